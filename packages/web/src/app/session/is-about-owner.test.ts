import { expect, test } from "bun:test"
import { routes } from "@hamlet/contract"
import { isAboutOwner } from "./is-about-owner.ts"

const all = Object.entries(routes).map(([name, route]) => ({
  name,
  path: route.path,
  isPersonal: "isPersonal" in route && route.isPersonal === true,
  isAbout: isAboutOwner(
    `https://vals.example${route.path.replaceAll(/\{\w+\}/g, "x")}?limit=1`,
    route.method.toUpperCase(),
  ),
}))

/** What belongs to the person, besides the routes that serve nothing else. */
const ofPerson = [
  "getMe",
  "updateMe",
  "signOut",
  "listMyLikes",
  "listTokens",
  "revokeToken",
  "listAuthorizations",
  "createAuthorization",
  "deleteAuthorization",
  "checkAuthorization",
]

test("isAboutOwner is false for what only a person has", () => {
  const wrong = all.filter(({ isPersonal, isAbout }) => isPersonal && isAbout)
  expect(wrong.map(({ name }) => name)).toEqual([])
})

test("isAboutOwner is true for the other routes of the caller, and for new vals", () => {
  const own = all.filter(({ path, isPersonal }) => /^\/v\d\/me\b/.test(path) && !isPersonal)
  const wrong = own.filter(({ name, isAbout }) => isAbout === ofPerson.includes(name))
  expect(wrong.map(({ name }) => name)).toEqual([])
  const made = ["createVal", "saveVal", "importVals", "createFolder", "forkVal"]
  expect(all.filter(({ name, isAbout }) => made.includes(name) && !isAbout)).toEqual([])
})

test("isAboutOwner is false where the address names a val or a run", () => {
  const named = all.filter(({ path }) => /\{(?:val_id|run_id|org_id|user_id)\}/.test(path))
  const about = named.filter(({ isAbout }) => isAbout)
  expect(about.map(({ name }) => name)).toEqual(["forkVal"])
})
