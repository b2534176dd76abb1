const size = { width: 96, height: 24, gap: 1 }

/** Numbers as small bars; those that went wrong in red at the foot. The words say the same. */
export function SparkLine({
  runs,
  errors,
  label,
}: {
  runs: readonly number[]
  errors: readonly number[]
  label: string
}) {
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
              x={x}
              y={size.height - height}
              width={width}
              height={height - failed}
            />
            <rect
              class="spark-error"
              x={x}
              y={size.height - failed}
              width={width}
              height={failed}
            />
          </g>
        )
      })}
    </svg>
  )
}
