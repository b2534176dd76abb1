import type { Door, SlowRequest } from "../door.ts"
import { invalidEscapes, smallValues } from "../worst-values.ts"

/** Bytes of a body that an endpoint of OAuth accepts. */
const oauthBytesMax = 65_536

const form = { "content-type": "application/x-www-form-urlencoded" }

/** The paths outside of the route table, with the worst request to each. */
export const endpointInputs: Readonly<Record<string, SlowRequest>> = {
  "/mcp": { method: "POST", path: "/mcp", body: smallValues(2_000_000) },
  "/v3/mcp": { method: "POST", path: "/v3/mcp", body: smallValues(2_000_000) },
  "/.well-known/oauth-protected-resource/v3/mcp": plain(
    "/.well-known/oauth-protected-resource/v3/mcp",
  ),
  "/.well-known/oauth-protected-resource": plain("/.well-known/oauth-protected-resource"),
  "/.well-known/oauth-protected-resource/mcp": plain("/.well-known/oauth-protected-resource/mcp"),
  "/.well-known/oauth-authorization-server": plain("/.well-known/oauth-authorization-server"),
  "/oauth/.well-known/openid-configuration": plain("/oauth/.well-known/openid-configuration"),
  "/oauth/device_authorization": {
    method: "POST",
    path: "/oauth/device_authorization",
    body: `client_id=val_town_vt&scope=${invalidEscapes(oauthBytesMax - 40)}`,
    headers: form,
  },
  "/oauth/register": {
    method: "POST",
    path: "/oauth/register",
    body: `{"redirect_uris":${smallValues(oauthBytesMax - 100)}}`,
  },
  "/oauth/token": {
    method: "POST",
    path: "/oauth/token",
    body: `code=${invalidEscapes(oauthBytesMax - 10)}`,
    headers: form,
  },
  "/oauth/revoke": {
    method: "POST",
    path: "/oauth/revoke",
    body: "a&".repeat(oauthBytesMax / 2 - 10),
    headers: form,
  },
}

function plain(path: string): SlowRequest {
  return { method: "GET", path }
}

export const endpointDoors: readonly Door[] = Object.entries(endpointInputs).map(
  ([path, request]) => ({
    name: `endpoint ${path}`,
    drive: async (stage) => void (await stage.send(request)),
  }),
)
