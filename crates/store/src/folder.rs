//! Large frames: files named by the SHA-256 of their content, so that a rewrite never changes a
//! file that a committed row names.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use reigi_core::digest::Digest;

use crate::Error;

/// The folder `bodies/`.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates the folder where it is missing.
    pub(crate) fn create(root: &Path) -> Result<Self, Error> {
        fs::create_dir_all(root).map_err(|e| Error::io(root, e))?;
        if let Some(data) = root.parent() {
            sync_dir(data)?;
            // That folder's own name, where this user may open the one above.
            let _ = data.parent().map(sync_dir);
        }
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// Writes a frame; it is durable under its name (`ab/cdef…`) when this returns.
    pub(crate) fn write(&self, frame: &[u8]) -> Result<String, Error> {
        let digest = Digest::of(frame).to_string();
        let (shard, rest) = digest.split_at_checked(2).unwrap_or(("", &digest));
        let dir = self.root.join(shard);
        let (path, tmp) = (dir.join(rest), dir.join(format!("{rest}.tmp")));
        let io = |e| Error::io(&path, e);
        fs::create_dir_all(&dir).map_err(io)?;
        // Each time: who created the shard may have been killed before it was durable.
        sync_dir(&self.root)?;
        let mut file = File::create(&tmp).map_err(io)?;
        file.write_all(frame).map_err(io)?;
        file.sync_all().map_err(io)?;
        fs::rename(&tmp, &path).map_err(io)?;
        sync_dir(&dir)?;
        Ok(format!("{shard}/{rest}"))
    }

    /// Reads a frame; `None` where the file is gone.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.root.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(&path, e)),
        }
    }

    /// Removes a frame that no committed row names.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.root.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(&path, e)),
            _ => Ok(()),
        }
    }

    /// Removes what no row names: files of transactions that a crash cut off. Only under the
    /// write lock, where nobody else is between file and row.
    pub(crate) fn sweep(&self, named: &BTreeSet<String>) -> Result<(), Error> {
        let io = |e| Error::io(&self.root, e);
        for shard in fs::read_dir(&self.root).map_err(io)? {
            let shard = shard.map_err(io)?;
            for file in fs::read_dir(shard.path()).map_err(io)? {
                let file = file.map_err(io)?.file_name();
                let name = Path::new(&shard.file_name()).join(file);
                let name = name.to_string_lossy();
                if !named.contains(name.as_ref()) {
                    self.remove(&name)?;
                }
            }
        }
        Ok(())
    }
}

/// Makes names within `dir` durable; an empty path is the working folder.
fn sync_dir(dir: &Path) -> Result<(), Error> {
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| Error::io(dir, e))
}
