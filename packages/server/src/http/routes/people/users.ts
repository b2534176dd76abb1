import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { json } from "../../response/api-response.ts"
import { listOf } from "../../response/page.ts"
import { listValsOf, toValResponse } from "../../response/val-response.ts"
import { toAccountView, toNewUserView, toUserView } from "../../response/views.ts"

/** Users by id and by name, and their vals. */
export function userHandlers({ users, accounts, vals, valLists, api: { links } }: Nouns) {
  return {
    listUsers: listOf(links, ({ query }) => accounts.list(query), toAccountView),
    createUser: async ({ body, caller }) => {
      const { user, token } = await users.create(
        { username: body.username, email: body.email ?? null },
        caller,
      )
      return json(200, toNewUserView(user, token, links))
    },
    getUser: async ({ params }) => json(200, toUserView(await users.get(params.user_id), links)),
    listUserVals: listValsOf(links, ({ caller, params, query }) =>
      valLists.listOfUser(caller, params.user_id, query),
    ),
    getUserByName: async ({ params }) =>
      json(200, toUserView(await users.getByName(params.username), links)),
    getValByName: async ({ caller, params }) =>
      toValResponse(await vals.getByName(caller, params.username, params.val_name), links, caller),
  } satisfies Partial<Handlers>
}
