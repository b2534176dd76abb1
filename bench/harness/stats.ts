/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The smallest value that `percent` per cent of all values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}

/** What two measurements have given, round by round. */
export interface Rounds {
  readonly a: readonly number[]
  readonly b: readonly number[]
}

/** Measures A and B alternately, so that a slow phase of the machine affects both. */
export function alternate(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<Rounds> {
  return takeTurns(rounds, { a, b })
}

/** Runs any number of measurements in turns, as `alternate` does with two. */
export async function takeTurns<Name extends string>(
  rounds: number,
  measures: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(measures) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    Name,
    number[]
  >
  for (let round = 0; round < rounds; round++) {
    for (const name of names) values[name].push(await measures[name]())
  }
  return values
}

/** The median of the ratios of the rounds, with the smallest and the largest of them. */
export function ratioOf({ a, b }: Rounds): { readonly ratio: number; readonly spread: string } {
  const ratios = a.map((value, round) => value / (b[round] ?? Number.NaN))
  return {
    ratio: median(ratios),
    spread: `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`,
  }
}
