import { readFileSync } from "node:fs"

interface Service {
  readonly image: string
  readonly build?: unknown
  readonly security_opt?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly read_only?: boolean
  readonly volumes?: readonly string[]
}

/** Built from this checkout, by the first node. */
const ownImage = "localhost/hamlet"

/** The options of `podman run` that give a container what compose.yaml gives the server. */
export function readServerFlags(path: string): { readonly security: string[]; rest: string[] } {
  const { services } = Bun.YAML.parse(readFileSync(path, "utf8")) as {
    readonly services: Readonly<Record<string, Service>>
  }
  const server = services["hamlet-1"]
  if (!server) throw new Error(`${path} has no service "hamlet-1"`)
  for (const [name, { image, build }] of Object.entries(services))
    if (build === undefined && image !== ownImage && !/:v?\d+\.\d+/.test(image))
      throw new Error(`${path} does not pin the version of "${name}": ${image}`)
  return {
    security: (server.security_opt ?? []).flatMap((option) => ["--security-opt", option]),
    rest: [
      ...(server.read_only === true ? ["--read-only"] : []),
      ...(server.cap_drop ?? []).flatMap((name) => ["--cap-drop", name]),
      ...(server.tmpfs ?? []).flatMap((mount) => ["--tmpfs", mount]),
      ...(server.volumes ?? []).flatMap((mount) => ["--volume", mount]),
    ],
  }
}
