//! Rows: they change with the entries that say so, or not at all.

use crate::common::{House, append, draft, segment, verify};
use reigi_core::event::{LaneId, Seq};
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::Timestamp;
use reigi_store::{Error, Store};

#[tokio::test]
async fn rows_change_with_the_entries() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    let row = |table, lane, key: &str, due: Option<i64>| {
        Row::new(
            table,
            LaneId(lane),
            key,
            due.map(Timestamp::from_secs),
            &lane,
        )
    };
    let house = row(Table::House, 0, "house", None);
    let lanes = [
        row(Table::Lane, 1, "a.example", Some(30)),
        row(Table::Lane, 2, "b.example", Some(10)),
        row(Table::Lane, 3, "c.example", None),
    ];
    let target = row(Table::Target, 1, "bot t1", Some(5));
    let mut all: Vec<Row> = lanes.iter().chain([&house, &target]).cloned().collect();
    let drafts = [draft(0, 0)];
    let puts = all.iter().cloned().map(RowChange::Put).collect();
    store
        .append_with(append(segment, &drafts), |_| puts)
        .await
        .unwrap();

    all.sort();
    assert_eq!(store.all_rows().await.unwrap(), all);
    assert_eq!(store.rows_of(Table::Lane).await.unwrap(), lanes);
    assert_eq!(
        store.rows_of_lane(LaneId(1)).await.unwrap(),
        [lanes[0].clone(), target.clone()]
    );
    assert_eq!(
        store.rows_by_key(Table::Lane, "b.example").await.unwrap(),
        lanes[1..2]
    );
    assert_eq!(
        store.row(Table::House, LaneId(0), "house").await.unwrap(),
        Some(house)
    );
    assert_eq!(
        store.row(Table::House, LaneId(1), "house").await.unwrap(),
        None
    );

    let due = async |at, limit| {
        store
            .due_lanes(Timestamp::from_secs(at), limit)
            .await
            .unwrap()
    };
    assert_eq!(due(9, 10).await, []);
    assert_eq!(due(30, 10).await, [LaneId(2), LaneId(1)]);
    assert_eq!(due(30, 1).await, [LaneId(2)]);
    assert_eq!(
        store.next_due().await.unwrap(),
        Some(Timestamp::from_secs(10))
    );

    let later = row(Table::Lane, 2, "b.example", Some(99));
    // Of two changes of one row the last one counts.
    let changes = vec![
        RowChange::Put(row(Table::Lane, 2, "b.example", Some(50))),
        RowChange::Put(later.clone()),
        RowChange::Drop {
            table: Table::Lane,
            lane: LaneId(1),
            key: "a.example".to_owned(),
        },
    ];
    store
        .append_with(append(segment, &drafts), |_| changes)
        .await
        .unwrap();
    assert_eq!(
        store.rows_of(Table::Lane).await.unwrap(),
        [later, lanes[2].clone()]
    );
    assert_eq!(
        store.next_due().await.unwrap(),
        Some(Timestamp::from_secs(99))
    );
}

#[tokio::test]
async fn a_decision_sees_the_rows_that_others_wrote_just_before() {
    let house = House::new();
    let counting = |store: Store, times: u64| async move {
        let segment = segment(&store).await;
        for _ in 0..times {
            let decide = |rows: Vec<Row>| {
                let seen: u64 = rows.first().map_or(0, |row| row.read().unwrap());
                let fold = move |_: &_| {
                    let (house, next) = (LaneId::HOUSE, seen + 1);
                    vec![RowChange::Put(Row::new(
                        Table::House,
                        house,
                        "house",
                        None,
                        &next,
                    ))]
                };
                Ok::<_, Error>((draft(0, 0), fold))
            };
            store
                .append_decided(segment, LaneId(7), decide)
                .await
                .unwrap();
        }
    };
    let (a, b) = (house.open().await, house.open().await);
    tokio::join!(counting(a.clone(), 20), counting(b, 20));
    let row = a
        .row(Table::House, LaneId::HOUSE, "house")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.read::<u64>().unwrap(), 40);
    assert_eq!(verify(&a).await.faults, []);

    let refused = a.append_decided(1, LaneId(7), |_| {
        type NoFold = (
            reigi_core::journal::Draft,
            fn(&reigi_core::journal::Header) -> Vec<RowChange>,
        );
        Err::<NoFold, _>(Error::Stale { now: 3 })
    });
    assert!(matches!(refused.await, Err(Error::Stale { now: 3 })));
    assert_eq!(a.count().await.unwrap(), 42);
}

#[tokio::test]
async fn rows_folded_anew_take_the_place_of_all_others() {
    let house = House::new();
    let store = house.open().await;
    let segment = segment(&store).await;
    let row =
        |lane: u64, value: u64| Row::new(Table::Lane, LaneId(lane), "a.example", None, &value);
    let drafts = [draft(0, 0)];
    let old = (1..=130).map(|lane| RowChange::Put(row(lane, 0))).collect();
    store
        .append_with(append(segment, &drafts), |_| old)
        .await
        .unwrap();
    assert!(store.fold_is_current().await.unwrap());
    let new: Vec<Row> = (100..=220).map(|lane| row(lane, 1)).collect();
    // Folded up to an entry that is not the last one: nothing is touched.
    assert!(!store.replace_rows(&new, Seq(1)).await.unwrap());
    assert_eq!(store.all_rows().await.unwrap().len(), 130);
    assert!(store.replace_rows(&new, Seq(2)).await.unwrap());
    assert_eq!(store.all_rows().await.unwrap(), new);
}
