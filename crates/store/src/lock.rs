//! One driver a house: an exclusive lock on a file, which the system drops with the process.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use reigi_core::time::Timestamp;

use crate::Error;

/// The right to drive this house, until dropped.
#[derive(Debug)]
pub struct DriverLock {
    _file: File,
}

impl DriverLock {
    /// Takes `dir/driver.lock` for this process and writes "pid role since" into it.
    pub(crate) fn take(dir: &Path, role: &str) -> Result<Self, Error> {
        let path = dir.join("driver.lock");
        let io = |source| Error::io(&path, source);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                file.read_to_string(&mut by).map_err(io)?;
                // Empty for the moment between the first one's lock and its writing.
                let by = if by.trim().is_empty() {
                    "just starting"
                } else {
                    by.trim()
                };
                return Err(Error::Locked { by: by.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let since = Timestamp::default().plus(since).rfc3339();
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "{} {role} {since}", std::process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }
}
