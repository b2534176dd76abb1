import { route } from "../route.ts"
import { account } from "../schemas/administration.ts"
import { createUserBody, pageQuery, valPageQuery } from "../schemas/inputs.ts"
import { newUser, page, user, val } from "../schemas/records.ts"

/** Users, by id and by name. */
export const userRoutes = {
  listUsers: route("Users", "get /v1/users", {
    summary: "All users, newest first, as administrators see them",
    scope: "admin",
    query: pageQuery,
    responses: { 200: page(account) },
  }),
  createUser: route("Users", "post /v1/users", {
    summary: "Create a user with a first token",
    scope: "admin",
    body: createUserBody,
    responses: { 200: newUser },
    errors: ["username_taken", "one_user_only"],
  }),
  getUser: route("Users", "get /v1/users/{user_id}", {
    summary: "A user by id",
    auth: "optional",
    scope: "user:read",
    responses: { 200: user },
  }),
  listUserVals: route("Users", "get /v1/users/{user_id}/vals", {
    summary: "A user's public vals; all vals for the user themselves",
    auth: "optional",
    scope: "val:read",
    query: valPageQuery,
    responses: { 200: page(val) },
  }),
  getUserByName: route("Users", "get /v1/alias/{username}", {
    summary: "A user by name",
    auth: "optional",
    scope: "user:read",
    responses: { 200: user },
    errors: ["user_not_found"],
  }),
  getValByName: route("Vals", "get /v1/alias/{username}/{val_name}", {
    summary: "A val by its owner's name and its name",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    hasEtag: true,
    responses: { 200: val },
  }),
}
