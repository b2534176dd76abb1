import { createAuthority } from "@hamlet/kit/testing"
import { startMailSink } from "../../../packages/server/test/support/fakes/mail-sink.ts"
import type { OptionalService, ServiceAddresses } from "../package-case.ts"
import { fontRoute, startEcho } from "./echo.ts"
import { startSocketServers } from "./sockets.ts"

/** Running services, which the vals of a server may reach with `settings`. */
export interface Services {
  readonly addresses: ServiceAddresses
  /** The settings of a server whose vals may reach them. */
  readonly settings: Readonly<Record<string, string>>
  stop(): void
}

/** Starts the services that need no other program. `others` are running already. */
export async function startServices(
  others: Partial<Record<OptionalService, string>>,
): Promise<Services> {
  const authority = createAuthority()
  const certificate = authority.issue("localhost,IP:127.0.0.1")
  const mail = await startMailSink({ certificate })
  const sockets = await startSocketServers(certificate)
  const plain = startEcho(mail)
  const secure = startEcho(mail, certificate)
  const addresses: ServiceAddresses = {
    http: `http://localhost:${plain.port}`,
    https: `https://localhost:${secure.port}`,
    http2: `https://localhost:${sockets.http2Port}`,
    ca: authority.ca,
    ws: `ws://localhost:${plain.port}/socket`,
    wss: `wss://localhost:${secure.port}/socket`,
    tcp: ["localhost", sockets.tcpPort],
    tls: ["localhost", sockets.tlsPort],
    smtp: ["localhost", mail.port],
    ...(fontRoute === undefined ? {} : { font: `http://localhost:${plain.port}${fontRoute}` }),
    ...others,
  }
  return {
    addresses,
    settings: {
      HAMLET_EGRESS_ALLOW: listHosts(addresses).join(","),
      HAMLET_EGRESS_CA: authority.path,
    },
    stop() {
      for (const server of [plain, secure]) void server.stop(true)
      sockets.stop()
      void mail.stop()
      authority[Symbol.dispose]()
    },
  }
}

/** Both names of this machine, with the port of each service. */
function listHosts(addresses: ServiceAddresses): string[] {
  const ports = Object.values(addresses).flatMap((address) => {
    if (Array.isArray(address)) return [Number(address[1])]
    const port = URL.canParse(String(address)) ? new URL(String(address)).port : ""
    return port === "" ? [] : [Number(port)]
  })
  return [...new Set(ports)].flatMap((port) => [`localhost:${port}`, `127.0.0.1:${port}`])
}
