/** A server outside of the cluster that counts what runs tell it. */
export class Effects implements AsyncDisposable {
  readonly counts = new Map<string, number>()
  readonly #server: Bun.Server<undefined>

  constructor(hostname: string) {
    this.#server = Bun.serve({
      hostname,
      port: 0,
      fetch: (request) => {
        const word = new URL(request.url).searchParams.get("word") ?? ""
        this.counts.set(word, (this.counts.get(word) ?? 0) + 1)
        return new Response(word)
      },
    })
  }

  get host(): string {
    return `${this.#server.hostname}:${this.#server.port}`
  }

  /** JavaScript that tells it the value of an expression, and never repeats that. */
  toCode(expression: string): string {
    const request = { method: "POST" }
    return `await (await fetch("http://${this.host}/?word=" + encodeURIComponent(${expression}), ${JSON.stringify(request)})).text()`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}
