import fc from "fast-check"
import {
  anyName,
  anyPage,
  anyViewer,
  pickMostly,
  pickVal,
  slot,
  userSlot,
  viewerOf,
} from "./arbitraries.ts"
import { checkList, checkPage, checkPeriod } from "./check.ts"
import { type Command, command } from "./command.ts"
import * as lists from "./lists.ts"
import { checkAlias, checkModule, checkVal, checkVersion } from "./single.ts"
import type { Viewer, World } from "./world.ts"

export const getValCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyViewer, version: fc.option(fc.nat({ max: 3 }), { nil: undefined }) })
  .map(({ val, by, version }) =>
    command(`get val ${JSON.stringify({ val, by, version })}`, async (world, api) => {
      const id = pickVal(world, val)
      if (version === undefined) await checkVal(api, world, viewerOf(world, by), id)
      else await checkVersion(api, world, viewerOf(world, by), id, version)
    }),
  )

export const getByNameCommand: fc.Arbitrary<Command> = fc
  .record({
    val: slot,
    name: anyName,
    by: anyViewer,
    at: fc.constantFrom("", "@"),
    version: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
  })
  .map(({ val, name, by, at, version }) =>
    command(`get by name ${JSON.stringify({ val, name, by, at, version })}`, async (world, api) => {
      const names = world.vals.map((one) => ({ username: one.owner.username, name: one.name }))
      const anyNames = world.users.map(({ username }) => ({
        username: username.toUpperCase(),
        name,
      }))
      const wanted = pickMostly(names, anyNames, val)
      await checkAlias(api, world, viewerOf(world, by), `${at}${wanted.username}`, wanted.name)
      await checkModule(
        api,
        world,
        viewerOf(world, by),
        `${at}${wanted.username}`,
        wanted.name,
        version,
      )
    }),
  )

type MakeList = (world: World, viewer: Viewer, val: string, user: string) => lists.ExpectedList

const kinds: Readonly<Record<string, MakeList>> = {
  vals: (world, viewer) => lists.listVals(world, viewer),
  "public vals": (world, viewer) => lists.listVals(world, viewer, { privacy: "public" }),
  "unlisted vals": (world, viewer) => lists.listVals(world, viewer, { privacy: "unlisted" }),
  "private vals": (world, viewer) => lists.listVals(world, viewer, { privacy: "private" }),
  "vals of one": (world, viewer, _val, userId) => lists.listVals(world, viewer, { userId }),
  "private vals of one": (world, viewer, _val, userId) =>
    lists.listVals(world, viewer, { userId, privacy: "private" }),
  "user's vals": (world, viewer, _val, userId) => lists.listUserVals(world, viewer, userId),
  versions: lists.listVersions,
  comments: lists.listComments,
  references: lists.listReferences,
  dependencies: lists.listDependencies,
  "my likes": lists.listMyLikes,
  "my comments": (world, viewer) => lists.listMyComments(world, viewer),
  "any of my comments": (world, viewer) => lists.listMyComments(world, viewer, "any"),
  "my given comments": (world, viewer) => lists.listMyComments(world, viewer, "given"),
  "my received comments": (world, viewer) => lists.listMyComments(world, viewer, "received"),
  "my references": lists.listMyReferences,
  tokens: lists.listTokens,
  secrets: lists.listSecrets,
  runs: (_world, viewer) => lists.listMyRuns(viewer),
}

export const listCommand: fc.Arbitrary<Command> = fc
  .record({
    kind: fc.constantFrom(...Object.keys(kinds)),
    val: slot,
    user: userSlot,
    by: anyViewer,
    page: anyPage,
    ends: fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })),
  })
  .map(({ kind, val, user, by, page, ends }) =>
    command(`list ${kind} ${JSON.stringify({ val, user, by, page, ends })}`, async (world, api) => {
      const viewer = viewerOf(world, by)
      const list = kinds[kind]?.(world, viewer, pickVal(world, val), world.users[user]?.id ?? "")
      if (!list) throw new Error(`there is no list ${kind}`)
      const whole = await checkList(api, world, viewer, list)
      await checkPage(api, viewer, list, whole, page)
      await checkPeriod(api, viewer, list, whole, ends)
    }),
  )

/** Parts of names, code and readmes, one that spans code and readme, and some that nothing has. */
const queries = [
  "alp",
  "BETA",
  "gamma_1",
  "=>",
  "a.b(1)",
  "héllo",
  "import",
  "hamlet.test/v/",
  "esm.town",
  "f(x) => y",
  "[beta]",
  "1\nAbout",
  "about alpha",
  "%",
  "\n",
  "zzz",
]

export const searchCommand: fc.Arbitrary<Command> = fc
  .record({ query: fc.constantFrom(...queries), by: anyViewer, page: anyPage })
  .map(({ query, by, page }) =>
    command(`search ${JSON.stringify({ query, by, page })}`, async (world, api) => {
      const viewer = viewerOf(world, by)
      const list = lists.search(world, viewer, query)
      await checkPage(api, viewer, list, await checkList(api, world, viewer, list), page)
    }),
  )
