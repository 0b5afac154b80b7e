import {
  ID_ALPHABET,
  ID_LENGTH,
  isId,
  isPrincipalId,
  isSessionId,
  isSidechain,
  rootOf,
  type SessionId,
} from "@espalier/shared";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

describe("[L8] ids", () => {
  test.each(["a", "0", "a-b_c", "A".repeat(64), "6789abcd-0000-4000-8000-000000000001"])(
    "%s is one",
    (id) => {
      expect(isId(id)).toBe(true);
      expect(isSessionId(id)).toBe(true);
    },
  );

  test.each(["", "-a", "_a", "a b", "a/b", "a.b", "../a", "é", "a\n", "\na", "a\u0000", "A".repeat(65)])(
    "%j is none",
    (id) => expect(isId(id)).toBe(false),
  );

  test.each([null, undefined, 5, {}, ["a"], { toString: () => "a" }])("%j is none", (value) => {
    expect([isId(value), isSessionId(value), isPrincipalId(value)]).toEqual([false, false, false]);
  });

  test("a sidechain is `session/agent`, flat", () => {
    expect(isSessionId("s/agent-1")).toBe(true);
    for (const id of ["s/", "/a", "s/a/b", "s//a", "s/../a", "s/-a", "s\\a"])
      expect(isSessionId(id)).toBe(false);
  });

  test("what is made of the alphabet is an id", () => {
    const made = fc.string({
      unit: fc.constantFrom(...ID_ALPHABET),
      minLength: ID_LENGTH,
      maxLength: ID_LENGTH,
    });
    fc.assert(fc.property(made, isId));
    expect(ID_ALPHABET).toHaveLength(62);
    expect(ID_ALPHABET).toMatch(/^[A-Za-z0-9]+$/);
  });

  test("principals may be e-mail addresses and the like", () => {
    expect(["ann@example.org", "auth0:5f", "a+b"].every(isPrincipalId)).toBe(true);
    expect(["", "@a", "a b", "a/b", "a\n", "x".repeat(129)].some(isPrincipalId)).toBe(false);
  });
});

test("[L8] a sidechain is named below its root session", () => {
  const [root, side] = ["s", "s/agent"] as SessionId[] as [SessionId, SessionId];
  expect([root, side].map(rootOf)).toEqual([root, root]);
  expect([root, side].map(isSidechain)).toEqual([false, true]);
});
