/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Measures A and B in turn, so that what slows the machine down for a while slows both down. */
export async function alternate(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ readonly a: number[]; readonly b: number[] }> {
  const values: { a: number[]; b: number[] } = { a: [], b: [] }
  for (let round = 0; round < rounds; round++) {
    values.a.push(await a())
    values.b.push(await b())
  }
  return values
}

/** The median of the ratios of the rounds, with the smallest and the largest of them. */
export function ratioOf({ a, b }: { readonly a: readonly number[]; readonly b: readonly number[] }): {
  readonly ratio: number
  readonly spread: string
} {
  const ratios = a.map((value, round) => value / (b[round] ?? Number.NaN))
  return { ratio: median(ratios), spread: `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}` }
}
