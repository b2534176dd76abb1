import { readFileSync } from "node:fs"
import { join } from "node:path"

/** A certificate authority of our own, and a certificate for this machine. */
export interface Authority {
  /** The file with the certificate of the authority, and its content. */
  readonly caPath: string
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]

/** Creates both with OpenSSL in a folder. */
export function createAuthority(folder: string): Authority {
  const request = (name: string, ...args: readonly string[]) => {
    const files = ["-keyout", join(folder, `${name}.key`), "-out", join(folder, `${name}.pem`)]
    const command = ["openssl", "req", "-x509", ...newKey, "-days", "30", ...files, ...args]
    const { exitCode, stderr } = Bun.spawnSync(command)
    if (exitCode !== 0) throw new Error(`Cannot create a certificate: ${stderr}`)
  }
  const caPath = join(folder, "ca.pem")
  request("ca", "-subj", "/CN=An authority of the compatibility tests")
  request(
    "server",
    ...["-subj", "/CN=localhost", "-CA", caPath, "-CAkey", join(folder, "ca.key")],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    // A server's certificate must not be that of an authority.
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  )
  const read = (name: string) => readFileSync(join(folder, name), "utf8")
  return { caPath, ca: read("ca.pem"), cert: read("server.pem"), key: read("server.key") }
}
