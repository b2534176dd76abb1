import { currentUser } from "../../session/session.ts"

/** The name of a val in a list. The user's own vals are shown without the username. */
export function toValName(val: { readonly username: string; readonly name: string }): string {
  const { username, name } = val
  return currentUser()?.username === username ? name : `${username}/${name}`
}
