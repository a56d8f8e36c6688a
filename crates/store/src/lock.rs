//! One driver a house: a file lock that names its holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::{Error, Result};

/// The driver's place; released when dropped or when the process ends.
#[derive(Debug)]
pub struct DriverLock {
    _file: File,
}

impl DriverLock {
    pub(crate) fn take(path: &Path, role: &str) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| Error::io(path, &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                let _ = file.read_to_string(&mut by);
                let by = if by.trim().is_empty() {
                    "unknown".to_owned()
                } else {
                    by.trim().to_owned()
                };
                return Err(Error::Locked { by });
            }
            Err(TryLockError::Error(e)) => return Err(Error::io(path, &e)),
        }
        let holder = format!("reigi {role}, process {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(|e| Error::io(path, &e))?;
        Ok(Self { _file: file })
    }
}
