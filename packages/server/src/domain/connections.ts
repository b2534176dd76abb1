import { AppError } from "./app-error.ts"

/** The services that clients ask tokens of. */
export type ConnectedService = "Slack" | "Google Docs"

/** The rules of connections to other services. */
export type Connections = ReturnType<typeof createConnections>

/** Creates the rules. Accounts of this server have no connections. */
export function createConnections() {
  return {
    /** The token of a connection of the caller. */
    getToken(service: ConnectedService): never {
      throw new AppError(
        "connection_not_found",
        `Cannot get a token of ${service}: your account is not connected to it`,
      )
    },
  }
}
