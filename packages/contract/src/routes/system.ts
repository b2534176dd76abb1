import { z } from "zod"
import { route } from "../route.ts"
import { params } from "../schemas/inputs.ts"
import { health, readiness } from "../schemas/records.ts"

/** Everything outside `/v1`. */
export const systemRoutes = {
  getModule: route({
    method: "get",
    // `{val_name}` may end in `@{version}`: it is one path segment, so one parameter.
    path: "/v/{username}/{val_name}",
    tag: "Modules",
    summary:
      "A val's code as a module, `…/{val_name}@{version}` for one version; TypeScript for runtimes, JavaScript for browsers",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    params: params.valByName,
    hasEtag: true,
    responses: { 200: ["text/tsx", "text/javascript"] },
    errors: ["version_not_found", "module_not_parsable", "sandbox_unavailable"],
  }),
  getStandardModule: route({
    method: "get",
    path: "/std/{module}",
    tag: "Modules",
    summary:
      "A module of the standard library, such as `blob` or `sqlite`; TypeScript for runtimes, JavaScript for browsers",
    auth: "none",
    params: params.standardModule,
    hasEtag: true,
    responses: { 200: ["text/typescript", "text/javascript"] },
    errors: ["route_not_found", "module_not_parsable", "sandbox_unavailable"],
  }),
  getOpenApi: route({
    method: "get",
    path: "/openapi.json",
    tag: "System",
    summary: "This description",
    auth: "none",
    responses: { 200: z.object({ openapi: z.string() }).loose() },
  }),
  getDocs: route({
    method: "get",
    path: "/docs",
    tag: "System",
    summary: "The API reference, with a console to try it",
    auth: "none",
    responses: { 200: ["text/html"] },
  }),
  getHealth: route({
    method: "get",
    path: "/healthz",
    tag: "System",
    summary: "Whether the process is alive",
    auth: "none",
    responses: { 200: health },
  }),
  getReadiness: route({
    method: "get",
    path: "/readyz",
    tag: "System",
    summary: "Whether the server is ready: checks the database, and that vals can run",
    auth: "none",
    responses: { 200: readiness },
    errors: ["database_unavailable", "sandbox_unavailable"],
  }),
  getMetrics: route({
    method: "get",
    path: "/metrics",
    tag: "System",
    summary: "Counters in Prometheus text format",
    auth: "none",
    responses: { 200: ["text/plain"] },
  }),
}
