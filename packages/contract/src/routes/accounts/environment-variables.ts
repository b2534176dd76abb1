import { route } from "../../route.ts"
import {
  createVariableBody,
  environmentVariable,
  putVariableBody,
} from "../../schemas/accounts/environment-variables.ts"
import { pageQuery } from "../../schemas/inputs.ts"
import { page } from "../../schemas/records.ts"

const path = "/v2/vals/{val_id}/environment_variables"

/** The secrets of a val, as clients of files call them. */
export const environmentVariableRoutes = {
  listEnvironmentVariables: route("Environment variables", `get ${path}`, {
    summary: "The names of the environment variables of a val of the caller",
    scope: "val:read",
    valAccess: "own",
    query: pageQuery,
    responses: { 200: page(environmentVariable) },
  }),
  createEnvironmentVariable: route("Environment variables", `post ${path}`, {
    summary: "Add an environment variable to a val; the API never returns its value",
    scope: "val:write",
    valAccess: "own",
    body: createVariableBody,
    responses: { 201: environmentVariable },
    errors: ["secret_exists", "too_many_secrets"],
  }),
  putEnvironmentVariable: route("Environment variables", `put ${path}/{variable}`, {
    summary: "Change an environment variable of a val",
    scope: "val:write",
    valAccess: "own",
    body: putVariableBody,
    responses: { 201: environmentVariable },
    errors: ["secret_not_found"],
  }),
  deleteEnvironmentVariable: route("Environment variables", `delete ${path}/{variable}`, {
    summary: "Delete an environment variable of a val",
    scope: "val:write",
    valAccess: "own",
    responses: { 204: null },
    errors: ["secret_not_found"],
  }),
}
