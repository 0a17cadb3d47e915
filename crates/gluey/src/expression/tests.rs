use proptest::prelude::*;

use super::*;

fn value(text: &str) -> f64 {
    Expression::parse(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}")).eval(&[])
}

fn error(text: &str) -> ExpressionError {
    Expression::parse(text, &["t", "x", "speed"]).expect_err(text)
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("24 / 4 / 3", 2.0),
        ("24 / 4 * 3", 18.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("(-2) ^ 2", 4.0),
        ("2 ^ -1", 0.5),
        ("2 ^ -1 ^ 2", 0.5),
        ("2 * -3", -6.0),
        ("--3", 3.0),
        ("+3 - -2", 5.0),
        ("7 % 4 * 2", 6.0),
        ("-7 % 4", -3.0),
        ("1 + 1 < 3", 1.0),
        ("1 < 2 and 2 < 1", 0.0),
        ("1 or 0 and 0", 1.0),
        ("not 1 < 2", 0.0),
        ("!0 && !0", 1.0),
        ("not 0 or 1", 1.0),
        ("not (1 and 0)", 1.0),
        ("2 * (3 > 2)", 2.0),
        ("1e3 + .5 + 2. + 1.5E-1", 1002.65),
        ("3 <= 3", 1.0),
        ("3 >= 4", 0.0),
        ("3 == 3", 1.0),
        ("3 != 3 || 5", 1.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_are_those_of_the_language() {
    let x = 0.37_f64;
    for (text, expected) in [
        ("sin(x)", x.sin()),
        ("cos(x)", x.cos()),
        ("tan(x)", x.tan()),
        ("asin(x)", x.asin()),
        ("acos(x)", x.acos()),
        ("atan(x)", x.atan()),
        ("atan2(x, -2)", x.atan2(-2.0)),
        ("sinh(x)", x.sinh()),
        ("cosh(x)", x.cosh()),
        ("tanh(x)", x.tanh()),
        ("exp(x)", x.exp()),
        ("ln(x)", x.ln()),
        ("log10(x)", x.log10()),
        ("sqrt(x)", x.sqrt()),
        ("abs(-x)", x),
        ("sign(-x) + sign(0) + sign(7)", 0.0),
        ("floor(-x)", -1.0),
        ("ceil(x)", 1.0),
        ("min(x, 1)", x),
        ("min(3, x, 2)", x),
        ("max(3, x, 5, 4)", 5.0),
        ("clamp(x, 1, 2)", 1.0),
        ("clamp(x, -2, -1)", -1.0),
        ("clamp(x, 0, 1)", x),
        ("step(0) + 10 * step(-1)", 1.0),
        ("if(x < 1, 2, 3)", 2.0),
        ("if(x > 1, 2, 3)", 3.0),
        ("2 * pi + e", 2.0 * std::f64::consts::PI + std::f64::consts::E),
    ] {
        let expression = Expression::parse(text, &["x"]).expect(text);
        assert_eq!(expression.eval(&[x]), expected, "{text}");
    }
}

#[test]
fn a_nan_shows_unless_it_was_not_asked_for() {
    for text in ["sqrt(-1) < 1", "min(1, sqrt(-1))", "max(sqrt(-1), 1)", "if(sqrt(-1), 1, 2)", "step(0/0)", "not 0/0"] {
        assert!(value(text).is_nan(), "{text}");
    }
    for (text, expected) in
        [("if(1, 2, sqrt(-1))", 2.0), ("if(0, 1/0 - 1/0, 3)", 3.0), ("0 and 0/0", 0.0), ("2 or 0/0", 1.0)]
    {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!(value("0/0 and 0").is_nan() && value("0/0 or 1").is_nan());
}

#[test]
fn variables_are_found_and_hide_constants() {
    let expression = Expression::parse(" e * x ", &["t", "x", "e"]).expect("parses");
    assert_eq!(expression.eval(&[1.0, 2.0, 3.0]), 6.0);
    assert_eq!(expression.source(), " e * x ");
    assert_eq!(expression.variables(), ["t", "x", "e"]);
    assert!(!expression.uses(0) && expression.uses(1) && expression.uses(2));
    assert_eq!(expression.constant(), None);
    assert_eq!(Expression::parse("2 * (3 + 4)", &["t"]).expect("parses").constant(), Some(14.0));
}

#[test]
fn errors_say_where_what_and_what_would_be_right() {
    for (text, at, display) in [
        ("2 * sinn(t)", 4..8, "unknown name `sinn`; did you mean `sin`?"),
        ("2 * speeed", 4..10, "unknown name `speeed`; did you mean `speed`?"),
        ("T + 1", 0..1, "unknown name `T`; did you mean `t`?"),
        ("qu + 1", 0..2, "unknown name `qu`; the names known here are t, x, speed, pi, e"),
        ("sin + 1", 0..3, "`sin` is a function; call it: `sin(…)`"),
        ("x(2)", 0..1, "`x` is no function; a product is written `x * (…)`"),
        ("1 + sin(1, 2)", 4..13, "`sin` takes 1 argument, not 2"),
        ("min(1)", 0..6, "`min` takes at least 2 arguments, not 1"),
        ("if(1, 2)", 0..8, "`if` takes 3 arguments, not 2"),
        ("cos()", 0..5, "`cos` takes 1 argument, not 0"),
        ("2 ** 3", 2..4, "`**` is no operator; powers are written `^`"),
        ("x = 3", 2..3, "`=` is no operator; equality is written `==`"),
        ("x − 3", 2..5, "`−` is no operator; minus is written `-`"),
        ("2 x", 2..3, "an operator is missing before `x`; a product is written `… * x`"),
        ("1 < x < 2", 6..7, "comparisons do not chain; write `a < b and b < c`"),
        ("(1 + 2", 6..6, "`)` is missing at the end"),
        ("1 + 2)", 5..6, "`)` closes nothing"),
        ("1, 2", 1..2, "`,` outside the arguments of a function"),
        ("(1, 2)", 2..3, "`,` outside the arguments of a function"),
        ("1 +", 3..3, "a value is missing at the end"),
        ("1 + * 2", 4..5, "a value is missing before `*`"),
        ("()", 1..2, "a value is missing before `)`"),
        ("", 0..0, "the expression is empty"),
        ("3 $ 4", 2..3, "unexpected character '$'"),
        ("1e999", 0..5, "the number 1e999 is too large"),
        ("1 + .", 4..5, "`.` is no number"),
    ] {
        let error = error(text);
        assert_eq!((error.at.clone(), error.to_string().as_str()), (at, display), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_and_long_sums_are_not() {
    for piece in ["(", "-", "not ", "1^", "sin(", "min(1,", "1+("] {
        let error = error(&piece.repeat(100_000));
        assert!(error.message.starts_with("more than"), "{piece}: {error}");
    }
    assert_eq!(value(&format!("{}1", "1 + ".repeat(10_000))), 10_001.0);
    assert_eq!(value(&format!("{}1{}", "(".repeat(90), ")".repeat(90))), 1.0);
}

proptest! {
    #[test]
    fn any_text_parses_or_is_refused_inside_its_bounds(text in ".{0,40}") {
        check(&text)?;
    }

    #[test]
    fn any_tokens_parse_or_are_refused_inside_their_bounds(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "1", "2.5", "t", "x", "pi", "+", "-", "*", "/", "%", "^", "<", "==", "and", "or", "not ", "!", "(", ")", ",",
            "min(", "if(", "sin(", "clamp(", "e", " ", "é", "1e",
        ]), 0..30)
    ) {
        check(&pieces.concat())?;
    }

    #[test]
    fn arithmetic_agrees_with_the_language(a in -9.0..9.0_f64, b in -9.0..9.0_f64, c in 0.1..9.0_f64) {
        let cases: [(&str, f64); 4] = [
            ("a + b * c - a / c", a + b * c - a / c),
            ("-(a - b) ^ 2 / c", -((a - b) * (a - b)) / c),
            ("c ^ a % b", c.powf(a) % b),
            ("if(a < b, sin(a), cos(b)) * (a >= b or c > 1)",
             if a < b { a.sin() } else { b.cos() } * f64::from(u8::from(a >= b || c > 1.0))),
        ];
        for (text, expected) in cases {
            let expression = Expression::parse(text, &["a", "b", "c"]).expect(text);
            prop_assert_eq!(expression.eval(&[a, b, c]).to_bits(), expected.to_bits(), "{}", text);
        }
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    match Expression::parse(text, &["t", "x"]) {
        Ok(expression) => {
            let _ = expression.eval(&[1.0, 2.0]);
        }
        Err(error) => prop_assert!(text.get(error.at.clone()).is_some(), "{:?} {}", text, error),
    }
    Ok(())
}
