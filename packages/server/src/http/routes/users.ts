import { listUsers } from "../../domain/accounts/accounts.ts"
import { createUser, getUser, getUserByName, listUserVals } from "../../domain/accounts/users.ts"
import { getValByName } from "../../domain/vals/vals.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toValPage, toValResponse } from "../response/val-response.ts"
import { toAccountView, toNewUserView, toUserView } from "../response/views.ts"

/** Users by id and by name, and their vals. */
export function userHandlers({ accounts, vals, api: { links } }: Nouns) {
  return {
    listUsers: async ({ query, request }) =>
      page(links, request, query, await listUsers(accounts, query), toAccountView),
    createUser: async ({ body, caller }) => {
      const { user, token } = await createUser(
        accounts,
        { username: body.username, email: body.email ?? null },
        caller,
      )
      return json(200, toNewUserView(user, token, links))
    },
    getUser: async ({ params }) =>
      json(200, toUserView(await getUser(accounts, params.user_id), links)),
    listUserVals: async ({ caller, params, query, request }) =>
      toValPage(
        links,
        request,
        query,
        await listUserVals(accounts, caller, params.user_id, query),
        caller,
      ),
    getUserByName: async ({ params }) =>
      json(200, toUserView(await getUserByName(accounts, params.username), links)),
    getValByName: async ({ caller, params }) =>
      toValResponse(
        await getValByName(vals, caller, params.username, params.val_name),
        links,
        caller,
      ),
  } satisfies Partial<Handlers>
}
