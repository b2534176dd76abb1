import { expect } from "bun:test"
import { expectStatus, type TestApi } from "../support/api.ts"
import { checkList } from "./check.ts"
import * as lists from "./lists.ts"
import { checkAlias, checkModule, checkUser, checkVal, checkVersion } from "./single.ts"
import type { Viewer, World } from "./world.ts"

/**
 * Everything that anybody can see is what the model says, for each of its users and for a visitor.
 */
export async function checkWholeWorld(api: TestApi, world: World): Promise<void> {
  for (const viewer of [...world.users, undefined]) {
    await Promise.all([
      checkLists(api, world, viewer),
      ...world.users.map((user) => checkUser(api, viewer, user)),
      ...world.valIds.map((id) => checkOneVal(api, world, viewer, id)),
    ])
  }
}

/** Deletes every val, so that the next sequence finds an empty town. */
export async function emptyTown(api: TestApi, world: World): Promise<void> {
  for (const owner of world.users) {
    const { data } = expectStatus(
      await api.call("GET", `/v1/users/${owner.id}/vals?limit=100`, { as: owner }),
      200,
    ).json
    await Promise.all(
      data.map(async ({ id }: { id: string }) =>
        expectStatus(await api.call("DELETE", `/v1/vals/${id}`, { as: owner }), 204),
      ),
    )
  }
}

/** With its vals, everything that hangs on them is gone. */
export async function checkEmptyTown(api: TestApi, world: World): Promise<void> {
  for (const as of world.users) {
    for (const path of [
      "/v1/vals",
      "/v1/me/likes",
      "/v1/me/comments",
      "/v1/me/references",
      "/v1/search/vals?query=import",
    ]) {
      expect((await api.call("GET", path, { as })).json.data).toEqual([])
    }
  }
}

async function checkLists(api: TestApi, world: World, viewer: Viewer): Promise<void> {
  const all = [
    lists.listVals(world, viewer),
    ...world.users.map((user) => lists.listUserVals(world, viewer, user.id)),
    lists.listMyLikes(world, viewer),
    lists.listMyComments(world, viewer),
    lists.listMyReferences(world, viewer),
    lists.listTokens(world, viewer),
    lists.listSecrets(world, viewer),
    lists.search(world, viewer, "import"),
  ]
  await Promise.all(all.map((list) => checkList(api, world, viewer, list)))
}

async function checkOneVal(api: TestApi, world: World, viewer: Viewer, id: string): Promise<void> {
  const val = world.vals.find((one) => one.id === id)
  await Promise.all([
    checkVal(api, world, viewer, id),
    checkList(api, world, viewer, lists.listVersions(world, viewer, id)),
    checkList(api, world, viewer, lists.listComments(world, viewer, id)),
    checkList(api, world, viewer, lists.listReferences(world, viewer, id)),
    checkList(api, world, viewer, lists.listDependencies(world, viewer, id)),
    ...Array.from({ length: val?.versionLast ?? 1 }, (_, index) =>
      checkVersion(api, world, viewer, id, index + 1),
    ),
    ...(val
      ? [
          checkAlias(api, world, viewer, val.owner.username, val.name),
          checkModule(api, world, viewer, val.owner.username, val.name),
        ]
      : []),
  ])
}
