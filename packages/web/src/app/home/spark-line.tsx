const size = { width: 96, height: 24, gap: 1 }

/** Runs as small bars, with failures in red at the bottom. The label says the same in words. */
export function SparkLine(props: {
  readonly runs: readonly number[]
  readonly errors: readonly number[]
  readonly label: string
}) {
  const { runs, errors, label } = props
  const most = Math.max(1, ...runs)
  const step = size.width / Math.max(1, runs.length)
  const toHeight = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * size.height))
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${size.width} ${size.height}`}
      width={size.width}
      height={size.height}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line
        class="spark-ground"
        x1="0"
        x2={size.width}
        y1={size.height - 0.5}
        y2={size.height - 0.5}
      />
      {runs.map((count, index) => {
        const height = toHeight(count)
        const failed = Math.min(height, toHeight(errors[index] ?? 0))
        const x = index * step
        const width = Math.max(1, step - size.gap)
        return count === 0 ? null : (
          <g key={index}>
            <rect
              class="spark-bar"
              {...{ x, width }}
              y={size.height - height}
              height={height - failed}
            />
            <rect class="spark-error" {...{ x, width }} y={size.height - failed} height={failed} />
          </g>
        )
      })}
    </svg>
  )
}
