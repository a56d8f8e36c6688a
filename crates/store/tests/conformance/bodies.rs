//! Bodies: what goes in comes out, differences are small, deletion is real.

use crate::common::{AT, House, append, draft, noise, page, put, segment};
use proptest::prelude::*;
use reigi_core::digest::Digest;
use reigi_store::{Append, Error, NewBody};

#[tokio::test]
async fn noisy_versions_are_small_differences() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    let pages: Vec<_> = (0..70).map(page).collect();
    for page in &pages {
        put(&store, segment, "bot page", page).await;
    }
    let stored = store.bodies().await.unwrap();
    let sizes: Vec<u64> = stored.iter().map(|b| b.frame_bytes).collect();
    let full = sizes[0];
    let fulls = sizes.iter().filter(|s| **s > full / 2).count();
    let delta = sizes[1..30].iter().sum::<u64>() / 29;
    println!(
        "page {} bytes, full frame {full}, mean delta {delta}",
        pages[0].len()
    );
    // 4 random tokens of 64 hex digits are 128 bytes of information.
    assert!(delta < 400, "mean delta {delta} of {full}");
    // 70 versions: full frames 0, 33 and 66.
    assert_eq!(fulls, 3, "{sizes:?}");
    for page in &pages {
        assert_eq!(
            store.get_body(Digest::of(page)).await.unwrap().as_ref(),
            Some(page)
        );
    }
}

#[tokio::test]
async fn dropping_a_base_keeps_what_needs_it() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    // Full frames of 100 KiB: in files; their differences: in the table.
    let base = noise(1, 100_000);
    let later: Vec<Vec<u8>> = (0..3)
        .map(|n| {
            let mut body = base.clone();
            body.splice(500..600, noise(n + 10, 100));
            body
        })
        .collect();
    let first = put(&store, segment, "a", &base).await;
    put(&store, segment, "b", &base).await;
    for body in &later {
        put(&store, segment, "a", body).await;
    }
    let gone = Digest::of(&later[2]);
    store.drop_bodies(&[first, gone]).await.unwrap();
    for dropped in [first, gone] {
        assert_eq!(store.get_body(dropped).await.unwrap(), None);
        assert!(!store.has_body(dropped).await.unwrap());
    }
    for body in &later[..2] {
        assert_eq!(
            store.get_body(Digest::of(body)).await.unwrap().as_ref(),
            Some(body)
        );
    }
    let left = store.bodies().await.unwrap();
    assert_eq!(left.len(), 2);
    // The oldest one left is full now, the other a difference to it.
    assert!(
        left[0].frame_bytes > 90_000 && left[1].frame_bytes < 1_000,
        "{left:?}"
    );
    let rest = [Digest::of(&later[0]), Digest::of(&later[1])];
    store.drop_bodies(&rest).await.unwrap();
    assert_eq!(store.bodies().await.unwrap(), []);
}

#[tokio::test]
async fn dropping_one_owners_base_spares_the_others_body() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    put(&store, segment, "a", &page(1)).await;
    let shared = put(&store, segment, "a", &page(2)).await;
    put(&store, segment, "b", &page(2)).await;
    assert_eq!(store.bodies().await.unwrap().len(), 3);
    store.drop_bodies(&[Digest::of(&page(1))]).await.unwrap();
    assert_eq!(store.get_body(shared).await.unwrap(), Some(page(2)));
}

#[tokio::test]
async fn a_body_under_a_wrong_name_is_refused() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    let digest = Digest::of(b"other");
    let bodies = [NewBody {
        digest,
        bytes: b"this",
        owner: "a",
        at: AT,
    }];
    let drafts = [draft(0, 0)];
    let append = Append {
        bodies: &bodies,
        ..append(segment, &drafts)
    };
    let refused = store.append_with(append, |_| Vec::new()).await;
    assert!(
        matches!(refused, Err(Error::Misnamed { .. })),
        "{refused:?}"
    );
    assert!(!store.has_body(digest).await.unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Any sequence of edits of a body, then any subset dropped: the rest reads back.
    #[test]
    fn bodies_come_back(
        start in prop::collection::vec(any::<u8>(), 0..3000),
        edits in prop::collection::vec((0usize..3000, prop::collection::vec(any::<u8>(), 0..80)), 0..8),
        big in any::<bool>(),
        dropped in any::<u16>(),
    ) {
        let mut body = start;
        if big {
            body.extend(noise(7, 80_000));
        }
        // Bytes that a dictionary would begin with must not be read as one.
        body.splice(0..0, [0x37, 0xA4, 0x30, 0xEC]);
        let mut versions = vec![body.clone()];
        for (at, bytes) in edits {
            let at = at.min(body.len());
            let end = (at + bytes.len()).min(body.len());
            body.splice(at..end, bytes);
            versions.push(body.clone());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let house = House::new();
            let store = house.open().await;
            let segment = segment(&store).await;
            for version in &versions {
                put(&store, segment, "a", version).await;
            }
            let gone: Vec<Digest> = versions
                .iter()
                .enumerate()
                .filter(|(i, _)| dropped & (1 << i) != 0)
                .map(|(_, v)| Digest::of(v))
                .collect();
            store.drop_bodies(&gone).await.unwrap();
            for version in &versions {
                let digest = Digest::of(version);
                let expected = (!gone.contains(&digest)).then_some(version);
                assert_eq!(store.get_body(digest).await.unwrap().as_ref(), expected);
            }
        });
    }
}
