import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"

/** An npm registry on this machine, with the zod that this program has installed. */
export async function startZodRegistry(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const root = dirname(Bun.resolveSync("zod/package.json", import.meta.dir))
  const packageJson = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    readonly version: string
  }
  const { version } = packageJson
  const names = ["--transform", "s,^zod,package,"]
  const tar = Bun.spawn(["tar", "-cz", ...names, "-C", dirname(root), "--exclude=zod/src", "zod"], {
    stdout: "pipe",
  })
  const tarball = await new Response(tar.stdout).bytes()
  if ((await tar.exited) !== 0) throw new Error("Cannot pack zod")
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname, origin } = new URL(url)
      if (pathname === "/zod.tgz") return new Response(tarball)
      if (pathname !== "/zod") return new Response("", { status: 404 })
      const dist = { tarball: `${origin}/zod.tgz`, integrity }
      return Response.json({
        name: "zod",
        "dist-tags": { latest: version },
        versions: { [version]: { ...packageJson, dist } },
      })
    },
  })
  return { url: server.url.href, stop: () => server.stop(true) }
}
