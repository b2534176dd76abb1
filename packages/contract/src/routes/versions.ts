import { route } from "../route.ts"
import { createVersionBody, formatCodeBody, pageQuery } from "../schemas/inputs.ts"
import { formattedCode, versionTypes } from "../schemas/modules/package-types.ts"
import { page, val, version, versionLock } from "../schemas/records.ts"

/** The versions of a val. */
export const versionRoutes = {
  listVersions: route("Versions", "get /v1/vals/{val_id}/versions", {
    summary: "A val's versions, newest first",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: pageQuery,
    responses: { 200: page(version) },
  }),
  createVersion: route("Versions", "post /v1/vals/{val_id}/versions", {
    summary: "Save new code as the current version; 200 if the code is unchanged",
    scope: "val:write",
    valAccess: "own",
    body: createVersionBody,
    isCodeBody: true,
    hasIfMatch: true,
    responses: { 200: val, 201: val },
    errors: ["name_taken", "sandbox_unavailable"],
  }),
  getVersion: route("Versions", "get /v1/vals/{val_id}/versions/{version}", {
    summary: "A val at one version",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    hasEtag: true,
    responses: { 200: val },
  }),
  deleteVersion: route("Versions", "delete /v1/vals/{val_id}/versions/{version}", {
    summary: "Delete one version; its number is never reused",
    scope: "val:write",
    valAccess: "own",
    hasIfMatch: true,
    responses: { 204: null },
    errors: ["last_version"],
  }),
  getVersionLock: route("Versions", "get /v1/vals/{val_id}/versions/{version}/lock", {
    summary: "The imports of a version from npm, JSR and other servers, and their state",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: versionLock },
  }),
  getVersionTypes: route("Versions", "get /v1/vals/{val_id}/versions/{version}/types", {
    summary: "The TypeScript declarations of the npm packages that a version imports, for editors",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    hasEtag: true,
    responses: { 200: versionTypes },
  }),
  formatCode: route("Versions", "post /v1/format", {
    summary: "Format code as `deno fmt` does; nothing is saved",
    scope: "val:write",
    body: formatCodeBody,
    isCodeBody: true,
    responses: { 200: formattedCode },
    errors: ["module_not_parsable", "sandbox_unavailable"],
  }),
  resolveVersion: route("Versions", "post /v1/vals/{val_id}/versions/{version}/lock", {
    summary: "Retry fetching the imports of a version; 200 if nothing is left to fetch",
    scope: "val:write",
    valAccess: "own",
    responses: { 200: versionLock, 202: versionLock },
  }),
}
