import type { Output } from "@hamlet/contract/client"
import type { Connection } from "../servers/connection.ts"

/** A user, as the API returns it. */
export type User = Output<"getUser">

/** Finds a user by name, with or without `@`, or by id. */
export function findUser({ client }: Connection, text: string): Promise<User> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
  return isId ? client.getUser({ user_id: text }) : client.getUserByName({ username: text })
}
