//! A listener that notes what it reads and plays bytes, right or wrong.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How a connection ends after the bytes were sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum End {
    Close,
    Reset,
    /// Stays open until the client leaves.
    Hold,
}

/// One connection as the listener saw it.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) accepted: Instant,
    /// When the first byte came.
    pub(crate) arrived: Option<Instant>,
    /// All bytes up to the end of the head.
    pub(crate) head: String,
    /// When the client had closed its end.
    pub(crate) left: Option<Instant>,
}

pub(crate) struct Listener {
    pub(crate) at: SocketAddr,
    visits: Arc<Mutex<Vec<Visit>>>,
}

impl Listener {
    /// Answers every connection with `pieces`, one after the other with a short wait between.
    pub(crate) async fn play(pieces: Vec<Vec<u8>>, end: End) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let visits = Arc::new(Mutex::new(Vec::new()));
        let (seen, pieces) = (Arc::clone(&visits), Arc::new(pieces));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, pieces) = (Arc::clone(&seen), Arc::clone(&pieces));
                tokio::spawn(serve(stream, seen, pieces, end));
            }
        });
        Self { at, visits }
    }

    /// Connections so far, once the client has left all of them.
    pub(crate) async fn visits(&self) -> Vec<Visit> {
        loop {
            let visits = self.visits.lock().unwrap().clone();
            if !visits.is_empty() && visits.iter().all(|v| v.left.is_some()) {
                return visits;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<Visit>>>,
    pieces: Arc<Vec<Vec<u8>>>,
    end: End,
) {
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(Visit {
            accepted: Instant::now(),
            arrived: None,
            head: String::new(),
            left: None,
        });
        seen.len() - 1
    };
    let note = |with: &dyn Fn(&mut Visit)| with(&mut seen.lock().unwrap()[number]);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_buf(&mut head).await {
            Ok(1..) => note(&|v| v.arrived = v.arrived.or(Some(Instant::now()))),
            _ => return note(&|v| v.left = Some(Instant::now())),
        }
    }
    note(&|v| v.head = String::from_utf8_lossy(&head).into_owned());
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let _ = stream.write_all(piece).await;
    }
    match end {
        End::Close => drop(stream.shutdown().await),
        End::Reset => {
            // The client reads what was sent before the reset overtakes it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let _ = stream.set_zero_linger();
            note(&|v| v.left = Some(Instant::now()));
            return;
        }
        End::Hold => {}
    }
    while matches!(stream.read_buf(&mut head).await, Ok(1..)) {}
    note(&|v| v.left = Some(Instant::now()));
}
