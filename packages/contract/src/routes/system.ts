import { z } from "zod"
import { route } from "../route.ts"
import { moduleQuery } from "../schemas/inputs.ts"
import { health, readiness } from "../schemas/records.ts"

/** Everything outside `/v1`. */
export const systemRoutes = {
  // `{val_name}` may end in `@{version}`: it is one path segment, so one parameter.
  getModule: route("Modules", "get /v/{username}/{val_name}", {
    summary:
      "A val's code as a module, `…/{val_name}@{version}` for one version, `@{branch}` for a branch, which redirects to its file; TypeScript for Deno and Bun, JavaScript for others",
    query: moduleQuery,
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    hasEtag: true,
    responses: {
      200: ["text/tsx", "text/typescript", "text/jsx", "text/javascript", "text/plain"],
      302: null,
    },
    errors: ["version_not_found", "file_not_found", "module_not_parsable", "sandbox_unavailable"],
  }),
  getModuleFile: route("Modules", "get /v/{username}/{val_name}/{file_path}", {
    summary:
      "A file of a val as a module; `…/{val_name}@{version}-{branch}/{file_path}` in one version, to which an address without a version redirects; TypeScript for Deno and Bun, JavaScript for others",
    query: moduleQuery,
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    isRestPath: true,
    hasEtag: true,
    responses: { 200: "bytes", 302: null },
    errors: ["version_not_found", "file_not_found", "module_not_parsable", "sandbox_unavailable"],
  }),
  getStandardModule: route("Modules", "get /std/{module}", {
    summary:
      "A module of the standard library, such as `blob` or `sqlite/main.ts`; TypeScript for Deno and Bun, JavaScript for others",
    auth: "none",
    isRestPath: true,
    hasEtag: true,
    responses: { 200: ["text/typescript", "text/javascript"] },
    errors: ["route_not_found", "module_not_parsable", "sandbox_unavailable"],
  }),
  getOpenApi: route("System", "get /openapi.json", {
    summary: "This description",
    auth: "none",
    responses: { 200: z.object({ openapi: z.string() }).loose() },
  }),
  getDocs: route("System", "get /docs", {
    summary: "The API reference, with a console to try it",
    auth: "none",
    responses: { 200: ["text/html"] },
    errors: ["web_app_unavailable"],
  }),
  getHealth: route("System", "get /healthz", {
    summary: "Whether the process is alive",
    auth: "none",
    responses: { 200: health },
  }),
  getReadiness: route("System", "get /readyz", {
    summary:
      "Whether the server is ready: the database accepts writes, vals can run, and it is not stopping",
    auth: "none",
    responses: { 200: readiness },
    errors: ["database_unavailable", "sandbox_unavailable", "overloaded"],
  }),
  getMetrics: route("System", "get /metrics", {
    summary:
      "Counters in Prometheus text format, on a port or with a token that the operator chose",
    auth: "none",
    responses: { 200: ["text/plain"] },
    errors: ["unauthenticated", "invalid_token", "route_not_found"],
  }),
}
