import { expect } from "bun:test"
import type { OperationName, SdkAccount } from "./sdk-operations.ts"

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const resultSet = (columns: readonly string[], row: readonly unknown[]) =>
  expect.objectContaining({ columns, rows: [row] })

/** What each operation results in, whatever platform the client runs on. */
export function toResults({
  baseUrl,
  userId,
  username,
}: SdkAccount): Record<OperationName, unknown> {
  const user = expect.objectContaining({
    id: userId,
    username,
    type: "user",
    links: { self: `${baseUrl}/v1/users/${userId}` },
  })
  const api = (pattern: string) => expect.stringMatching(new RegExp(`^${baseUrl}/${pattern}$`))
  const val = {
    id: uuid,
    name: expect.any(String),
    description: null,
    imageUrl: null,
    privacy: "private",
    createdAt: time,
    author: { id: userId, type: "user", username },
    links: { self: api("v2/vals/[^/]+"), html: api(`x/${username}/val_[0-9a-f]{8}`) },
  }
  const branch = {
    id: uuid,
    name: "main",
    version: 0,
    createdAt: time,
    updatedAt: time,
    forkedBranchId: null,
    links: { self: api("v2/vals/.+/branches/[^/]+"), html: api("x/.+") },
  }
  const file = {
    id: uuid,
    name: "main.tsx",
    path: "main.tsx",
    type: "script",
    version: 1,
    updatedAt: time,
    links: {
      self: api("v2/files/[^/]+"),
      html: api(`x/${username}/.+`),
      module: expect.stringMatching(new RegExp(`/v/${username}/val_[0-9a-f]{8}@1-main/main.tsx$`)),
    },
  }
  const variable = { key: "KEY", description: null, createdAt: time, updatedAt: null }
  const notFound = (code: string) => ["NotFoundError", 404, code]
  return {
    "GET /v1/alias/{username}": user,
    "GET /v2/alias/vals/{username}/{val_name}": val,
    "GET /v1/me": expect.objectContaining({ id: userId, username, email: null, tier: null }),
    "GET /v2/me/vals": val,
    "GET /v2/orgs": [],
    "GET /v2/orgs/{org_id}/memberships": notFound("org_not_found"),
    "GET /v1/blob": [expect.objectContaining({ key: "listed/é 1", size: 5 })],
    "GET /v1/blob/{key}": "content",
    "POST /v1/blob/{key}": "ok",
    "DELETE /v1/blob/{key}": [null, notFound("blob_not_found")],
    "GET /v1/users/{user_id}": user,
    "POST /v1/sqlite/execute": resultSet(["one"], [1]),
    "POST /v1/sqlite/batch": [resultSet(["one"], [1]), resultSet(["two"], [2])],
    "GET /v1/telemetry/traces": expect.objectContaining({
      data: [
        expect.objectContaining({
          traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
          endTimeUnixNano: expect.stringMatching(/^[1-9]\d{18}$/),
          status: expect.objectContaining({ code: 1 }),
        }),
      ],
    }),
    "GET /v1/telemetry/logs": expect.objectContaining({
      data: [expect.objectContaining({ severityText: "stderr", body: { stringValue: "Oh" } })],
    }),
    "POST /v3/connections/google-docs/token": notFound("connection_not_found"),
    "POST /v3/connections/slack/token": notFound("connection_not_found"),
    "POST /v2/vals": { ...val, description: "A val" },
    "GET /v2/vals/{val_id}": val,
    "GET /v2/vals": val,
    "DELETE /v2/vals/{val_id}": [null, notFound("val_not_found")],
    "POST /v2/vals/{val_id}/branches": { ...branch, name: "try", forkedBranchId: uuid },
    "GET /v2/vals/{val_id}/branches/{branch_id}": branch,
    "GET /v2/vals/{val_id}/branches": ["main", "try"],
    "DELETE /v2/vals/{val_id}/branches/{branch_id}": [null, notFound("branch_not_found")],
    "POST /v2/vals/{val_id}/files": file,
    "GET /v2/vals/{val_id}/files": [
      ["lib", "directory"],
      ["lib/db.ts", "script"],
      ["main.tsx", "script"],
    ],
    "PUT /v2/vals/{val_id}/files": expect.objectContaining({
      name: "app.tsx",
      path: "app.tsx",
      type: "script",
      version: 2,
    }),
    "DELETE /v2/vals/{val_id}/files": [],
    "GET /v2/vals/{val_id}/files/content": ["application/octet-stream", "1"],
    "POST /v2/vals/{val_id}/environment_variables": { ...variable, description: "A key" },
    "PUT /v2/vals/{val_id}/environment_variables/{key}": { ...variable, updatedAt: time },
    "GET /v2/vals/{val_id}/environment_variables": [
      { ...variable, key: "ONE" },
      { ...variable, key: "TWO" },
    ],
    "DELETE /v2/vals/{val_id}/environment_variables/{key}": [null, notFound("secret_not_found")],
    "GET /v2/files/{file_id}": file,
    "POST /v1/email": expect.objectContaining({ message: expect.any(String) }),
  }
}
