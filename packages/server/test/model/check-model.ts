import { expect } from "bun:test"
import { expectStatus, type TestApi } from "../support/api.ts"
import { checkList } from "./check.ts"
import * as lists from "./lists.ts"
import type { Model, Viewer } from "./model.ts"
import { checkAlias, checkModule, checkUser, checkVal, checkVersion } from "./single.ts"

/**
 * Everything that anybody can see is what the model says, for each of its users and for a visitor.
 */
export async function checkModel(api: TestApi, model: Model): Promise<void> {
  for (const viewer of [...model.users, undefined]) {
    await Promise.all([
      checkLists(api, model, viewer),
      ...model.users.map((user) => checkUser(api, viewer, user)),
      ...model.valIds.map((id) => checkOneVal(api, model, viewer, id)),
    ])
  }
}

/** Deletes every val, so that the next sequence starts with none. */
export async function deleteAllVals(api: TestApi, model: Model): Promise<void> {
  for (const owner of model.users) {
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

/** Checks that everything that belonged to the vals is gone with them. */
export async function checkAllGone(api: TestApi, model: Model): Promise<void> {
  for (const as of model.users) {
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

async function checkLists(api: TestApi, model: Model, viewer: Viewer): Promise<void> {
  const all = [
    lists.listVals(model, viewer),
    ...model.users.map((user) => lists.listUserVals(model, viewer, user.id)),
    lists.listMyLikes(model, viewer),
    lists.listMyComments(model, viewer),
    lists.listMyReferences(model, viewer),
    lists.listTokens(model, viewer),
    lists.listSecrets(model, viewer),
    lists.search(model, viewer, "import"),
  ]
  await Promise.all(all.map((list) => checkList(api, model, viewer, list)))
}

async function checkOneVal(api: TestApi, model: Model, viewer: Viewer, id: string): Promise<void> {
  const val = model.vals.find((one) => one.id === id)
  await Promise.all([
    checkVal(api, model, viewer, id),
    checkList(api, model, viewer, lists.listVersions(model, viewer, id)),
    checkList(api, model, viewer, lists.listComments(model, viewer, id)),
    checkList(api, model, viewer, lists.listForks(model, viewer, id)),
    checkList(api, model, viewer, lists.listReferences(model, viewer, id)),
    checkList(api, model, viewer, lists.listDependencies(model, viewer, id)),
    ...Array.from({ length: val?.versionLast ?? 1 }, (_, index) =>
      checkVersion(api, model, viewer, id, index + 1),
    ),
    ...(val
      ? [
          checkAlias(api, model, viewer, val.owner.username, val.name),
          checkModule(api, model, viewer, val.owner.username, val.name),
        ]
      : []),
  ])
}
