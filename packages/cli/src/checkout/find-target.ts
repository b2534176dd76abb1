import type { Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { findBranch } from "../names/find-branch.ts"
import { findWholeVal, type Val } from "../names/find-val.ts"
import type { Connection } from "../servers/connection.ts"
import { findCheckoutFolder, loadCheckout } from "./checkout-state.ts"
import { assertServer } from "./open-checkout.ts"
import type { Branch } from "./remote-tree.ts"

/** An argument that names a val. In the folder of one val it can be left out. */
export const ownVal = {
  help: "name of the val (default: that of the folder you are in)",
  isOwnVal: true,
} as const

/** A val, and the branch that its folder has if it was named by that. */
export interface Target {
  readonly val: Val
  readonly branchName: string | undefined
}

/** Finds the val that a text names; `.` is the val of the current folder. */
export async function findTarget(connection: Connection, text: string): Promise<Target> {
  if (text !== ".") return { val: await findWholeVal(connection, text), branchName: undefined }
  const folder = findCheckoutFolder(".")
  if (folder === undefined)
    throw new CliError("usage", 'Cannot use "." here: this is not the folder of one val')
  const checkout = loadCheckout(folder)
  assertServer(folder, checkout, connection)
  const val = await connection.client.getVal({ val_id: checkout.val.id })
  return { val, branchName: checkout.branch.name }
}

/** Finds the val and the branch that the options of a command name. */
export async function findTargetBranch(
  connection: Connection,
  text: string,
  name: string | undefined,
): Promise<{ readonly val: Val; readonly branch: Branch; readonly client: Client }> {
  const { val, branchName } = await findTarget(connection, text)
  const branch = await findBranch(connection.client, val.id, name ?? branchName)
  return { val, branch, client: connection.client }
}

/** Whether a text is the path of a file or a folder of the val whose folder this is. */
export function isOwnPath(text: string): boolean {
  const folder = findCheckoutFolder(".")
  if (folder === undefined || text === ".") return false
  const paths = [...loadCheckout(folder).files.keys()]
  return paths.some((path) => path === text || path.startsWith(`${text}/`))
}
