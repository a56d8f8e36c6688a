//! What must not compile: a request that the gate has not judged, a release that nobody confirmed.

#[test]
fn permits_and_approvals_cannot_be_forged() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/fail/*.rs");
}
