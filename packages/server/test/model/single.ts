import { expect } from "bun:test"
import { expectStatus, type TestApi, type TestUser } from "../support/api.ts"
import { checkOutcome, checkRecord } from "./check.ts"
import {
  canSee,
  currentOf,
  done,
  findByName,
  findVal,
  type Model,
  type ModelVal,
  type ModelVersion,
  type Outcome,
  refuse,
  type Viewer,
} from "./model.ts"
import { viewVal } from "./views.ts"

interface Found {
  readonly val: ModelVal
  readonly version: ModelVersion
}

/** GET /v1/vals/{val_id} */
export async function checkVal(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  id: string,
): Promise<void> {
  const val = findVal(model, viewer, id)
  await check(api, model, viewer, `/v1/vals/${id}`, findVersion(val, undefined))
}

/** GET /v1/vals/{val_id}/versions/{version} */
export async function checkVersion(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  id: string,
  version: number,
): Promise<void> {
  const val = findVal(model, viewer, id)
  await check(api, model, viewer, `/v1/vals/${id}/versions/${version}`, findVersion(val, version))
}

/** GET /v1/alias/{username} and /v1/users/{user_id} */
export async function checkUser(api: TestApi, viewer: Viewer, user: TestUser): Promise<void> {
  for (const path of [`/v1/alias/@${user.username.toUpperCase()}`, `/v1/users/${user.id}`]) {
    const { json } = expectStatus(await api.call("GET", path, { as: viewer }), 200)
    expect({ id: json.id, username: json.username }).toEqual({
      id: user.id,
      username: user.username,
    })
  }
}

/** GET /v1/alias/{username}/{val_name} */
export async function checkAlias(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  username: string,
  name: string,
): Promise<void> {
  const val = findVisible(model, viewer, username, name)
  await check(api, model, viewer, `/v1/alias/${username}/${name}`, findVersion(val, undefined))
}

/** GET /v/{username}/{val_name}@{version} */
export async function checkModule(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  username: string,
  name: string,
  version?: number,
): Promise<void> {
  const found = findVersion(findVisible(model, viewer, username, name), version)
  const response = await api.call(
    "GET",
    `/v/${username}/${name}${version === undefined ? "" : `@${version}`}`,
    { as: viewer, headers: { "user-agent": "Deno/2" } },
  )
  checkOutcome(response, found)
  if (found.code === undefined) expect(response.text).toBe(found.value.version.code)
}

async function check(
  api: TestApi,
  model: Model,
  viewer: Viewer,
  path: string,
  found: Outcome<Found>,
): Promise<void> {
  const response = await api.call("GET", path, { as: viewer })
  checkOutcome(response, found)
  if (found.code === undefined)
    checkRecord(response.json, viewVal(model, viewer, found.value.val, found.value.version))
}

function findVisible(
  model: Model,
  viewer: Viewer,
  username: string,
  name: string,
): ModelVal | undefined {
  const val = findByName(model, username.replace("@", ""), name)
  return val && canSee(val, viewer) ? val : undefined
}

function findVersion(val: ModelVal | undefined, number: number | undefined): Outcome<Found> {
  if (!val) return refuse(404, "val_not_found")
  const version =
    number === undefined ? currentOf(val) : val.versions.find((one) => one.version === number)
  return version ? done(200, { val, version }) : refuse(404, "version_not_found")
}
