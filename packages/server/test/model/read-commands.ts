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
import type { Model, Viewer } from "./model.ts"
import { checkAlias, checkModule, checkVal, checkVersion } from "./single.ts"

export const getValCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyViewer, version: fc.option(fc.nat({ max: 3 }), { nil: undefined }) })
  .map(({ val, by, version }) =>
    command(`get val ${JSON.stringify({ val, by, version })}`, async (model, api) => {
      const id = pickVal(model, val)
      if (version === undefined) await checkVal(api, model, viewerOf(model, by), id)
      else await checkVersion(api, model, viewerOf(model, by), id, version)
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
    command(`get by name ${JSON.stringify({ val, name, by, at, version })}`, async (model, api) => {
      const names = model.vals.map((one) => ({ username: one.owner.username, name: one.name }))
      const anyNames = model.users.map(({ username }) => ({
        username: username.toUpperCase(),
        name,
      }))
      const wanted = pickMostly(names, anyNames, val)
      await checkAlias(api, model, viewerOf(model, by), `${at}${wanted.username}`, wanted.name)
      await checkModule(
        api,
        model,
        viewerOf(model, by),
        `${at}${wanted.username}`,
        wanted.name,
        version,
      )
    }),
  )

type MakeList = (model: Model, viewer: Viewer, val: string, user: string) => lists.ExpectedList

const kinds: Readonly<Record<string, MakeList>> = {
  vals: (model, viewer) => lists.listVals(model, viewer),
  "public vals": (model, viewer) => lists.listVals(model, viewer, { privacy: "public" }),
  "unlisted vals": (model, viewer) => lists.listVals(model, viewer, { privacy: "unlisted" }),
  "private vals": (model, viewer) => lists.listVals(model, viewer, { privacy: "private" }),
  "vals of one": (model, viewer, _val, userId) => lists.listVals(model, viewer, { userId }),
  "private vals of one": (model, viewer, _val, userId) =>
    lists.listVals(model, viewer, { userId, privacy: "private" }),
  "user's vals": (model, viewer, _val, userId) => lists.listUserVals(model, viewer, userId),
  versions: lists.listVersions,
  comments: lists.listComments,
  forks: lists.listForks,
  references: lists.listReferences,
  dependencies: lists.listDependencies,
  "my likes": lists.listMyLikes,
  "my comments": (model, viewer) => lists.listMyComments(model, viewer),
  "any of my comments": (model, viewer) => lists.listMyComments(model, viewer, "any"),
  "my given comments": (model, viewer) => lists.listMyComments(model, viewer, "given"),
  "my received comments": (model, viewer) => lists.listMyComments(model, viewer, "received"),
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
    command(`list ${kind} ${JSON.stringify({ val, user, by, page, ends })}`, async (model, api) => {
      const viewer = viewerOf(model, by)
      const list = kinds[kind]?.(model, viewer, pickVal(model, val), model.users[user]?.id ?? "")
      if (!list) throw new Error(`there is no list ${kind}`)
      const whole = await checkList(api, model, viewer, list)
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
    command(`search ${JSON.stringify({ query, by, page })}`, async (model, api) => {
      const viewer = viewerOf(model, by)
      const list = lists.search(model, viewer, query)
      await checkPage(api, viewer, list, await checkList(api, model, viewer, list), page)
    }),
  )
