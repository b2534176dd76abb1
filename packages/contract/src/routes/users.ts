import { createUserBody, pageQuery, params } from "../inputs.ts"
import { newUser, page, user, val } from "../records.ts"
import { route } from "../route.ts"

/** Users, by id and by name. */
export const userRoutes = {
  createUser: route({
    method: "post",
    path: "/v1/users",
    tag: "Users",
    summary: "Create a user with a first token",
    auth: "required",
    scope: "admin",
    body: createUserBody,
    answers: { 200: newUser },
    errors: ["username_taken"],
  }),
  getUser: route({
    method: "get",
    path: "/v1/users/{user_id}",
    tag: "Users",
    summary: "A user by id",
    auth: "optional",
    scope: "user:read",
    params: params.user,
    answers: { 200: user },
    errors: ["user_not_found"],
  }),
  listUserVals: route({
    method: "get",
    path: "/v1/users/{user_id}/vals",
    tag: "Users",
    summary: "A user's public vals; all of them for the user",
    auth: "optional",
    scope: "val:read",
    params: params.user,
    query: pageQuery,
    answers: { 200: page(val) },
    errors: ["user_not_found"],
  }),
  getUserByName: route({
    method: "get",
    path: "/v1/alias/{username}",
    tag: "Users",
    summary: "A user by name",
    auth: "optional",
    scope: "user:read",
    params: params.username,
    answers: { 200: user },
    errors: ["user_not_found"],
  }),
  getValByName: route({
    method: "get",
    path: "/v1/alias/{username}/{val_name}",
    tag: "Vals",
    summary: "A val by its owner's name and its own",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    params: params.valByName,
    hasEtag: true,
    answers: { 200: val },
  }),
}
