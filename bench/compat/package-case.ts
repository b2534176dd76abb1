/** A use of a package in a val of at most 20 lines. */
export interface PackageCase {
  /** The module. Its first import names the package and the version. */
  readonly code: string
  /**
   * What its default export returns, as JSON. The function gets the addresses of the services. A
   * pattern is compared with the text of a string.
   */
  readonly returns?: unknown
  /** For a module that starts a web server: what the server responds at `/hello?name=Ada`. */
  readonly responds?: string
  /** The services without which it cannot run. */
  readonly needs?: readonly OptionalService[]
  /** Whether `npm test` runs it too. */
  readonly isInTests?: boolean
}

/** Services that are programs of the machine and may be missing. */
export type OptionalService = "font" | "mariadb" | "mosquitto" | "nats" | "postgres" | "redis"

/** The addresses of the services, as the vals get them. */
export interface ServiceAddresses {
  /** A server that responds to each request with what it received, as JSON. */
  readonly http: string
  /** The same with a certificate of an authority of our own, which is `ca`. */
  readonly https: string
  readonly ca: string
  /** A WebSocket that sends each message back after `echo `. */
  readonly ws: string
  readonly wss: string
  /** Host and port of a TCP server, and of one with TLS, that send back what they receive. */
  readonly tcp: readonly [string, number]
  readonly tls: readonly [string, number]
  /** A server of HTTP/2. */
  readonly http2: string
  /** A mail server with STARTTLS that accepts each message; `mails` at `http` lists the subjects. */
  readonly smtp: readonly [string, number]
  /** A font, in TrueType. */
  readonly font?: string
  readonly mariadb?: string
  readonly mosquitto?: string
  readonly nats?: string
  readonly postgres?: string
  readonly redis?: string
}

const firstPackage = /npm:((?:@[\w.-]+\/)?[\w.-]+)@([\w.-]+)/

/** The name and the version of the package that a case uses. */
export function toPackage({ code }: PackageCase): { name: string; version: string } {
  const [, name, version] = firstPackage.exec(code) ?? []
  if (name === undefined || version === undefined)
    throw new Error(`Cannot find the package of a case: ${code.slice(0, 100)}`)
  return { name, version }
}
