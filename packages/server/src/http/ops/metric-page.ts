import type { Histogram } from "@hamlet/kit"

/** The value of a metric, or one for each set of labels. */
type Values<Value> = Value | readonly (readonly [labels: string, value: Value])[]

/** The values of a metric by a label. */
export function by(label: string, values: Readonly<Record<string, number>>): Values<number> {
  return Object.entries(values).map(([key, value]) => [`${label}="${key}"`, value])
}

/** Metrics in the text format of Prometheus. */
export class MetricPage {
  readonly #lines: string[] = []

  gauge(name: string, help: string, values: Values<number>): void {
    this.#add(name, "gauge", help, values)
  }

  counter(name: string, help: string, values: Values<number>): void {
    this.#add(name, "counter", help, values)
  }

  histogram(name: string, help: string, values: Values<Histogram>): void {
    this.#add(name, "histogram", help, [])
    for (const [labels, histogram] of toList(values)) {
      const { boundsSeconds, counts, sumSeconds, count } = histogram
      const start = labels === "" ? "" : `${labels},`
      // Buckets are cumulative.
      let below = 0
      for (const [index, bound] of boundsSeconds.entries()) {
        below += counts[index] ?? 0
        this.#print(`${name}_bucket`, `${start}le="${bound}"`, below)
      }
      this.#print(`${name}_bucket`, `${start}le="+Inf"`, count)
      this.#print(`${name}_sum`, labels, sumSeconds)
      this.#print(`${name}_count`, labels, count)
    }
  }

  toString(): string {
    return this.#lines.join("")
  }

  #add(name: string, type: string, help: string, values: Values<number>): void {
    this.#lines.push(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`)
    for (const [labels, value] of toList(values)) this.#print(name, labels, value)
  }

  #print(name: string, labels: string, value: number): void {
    this.#lines.push(`${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`)
  }
}

function toList<Value extends number | Histogram>(values: Values<Value>) {
  return typeof values === "object" && "map" in values ? values : ([["", values]] as const)
}
