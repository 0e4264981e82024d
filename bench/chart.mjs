// Draws the figures of `compare` as an SVG: for each operation, the processor time of the reference as a multiple of ours.
//
//   npm run bench -- chart figures.json docs/performance.svg
import { readFileSync, writeFileSync } from 'node:fs'

const WIDTH = 760
const ROW = 26
const LEFT = 270
const TOP = 44
const BARS = WIDTH - LEFT - 70

export async function run([from, to]) {
  if (!from || !to) throw new Error('usage: npm run bench -- chart <figures.json> <chart.svg>')
  writeFileSync(to, chartOf(JSON.parse(readFileSync(from, 'utf8'))))
}

export function chartOf({ rows, machine }) {
  const bars = rows.flatMap(({ name, figures: [ours, theirs] }) => {
    const [a, b] = [ours, theirs].map(each => each?.cpu ?? each?.bytes)
    return a > 0 && b > 0 ? [{ name, ratio: b / a }] : []
  })
  const most = Math.max(1, ...bars.map(({ ratio }) => ratio))
  const height = TOP + bars.length * ROW + 34
  const x = ratio => LEFT + (ratio / most) * BARS
  const lines = bars.map(({ name, ratio }, i) => {
    const y = TOP + i * ROW
    return [
      text(LEFT - 8, y + 14, name, 'end'),
      `<rect x="${LEFT}" y="${y}" width="${(x(ratio) - LEFT).toFixed(1)}" height="18" fill="${ratio >= 1 ? '#2f6f9f' : '#b5532a'}"/>`,
      text(x(ratio) + 6, y + 14, `${ratio.toFixed(1)} ×`, 'start'),
    ].join('\n')
  })
  const one = `<line x1="${x(1).toFixed(1)}" y1="${TOP - 6}" x2="${x(1).toFixed(1)}" y2="${height - 30}" stroke="#888" stroke-dasharray="3 3"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
${text(16, 24, 'Processor time of kube-apiserver + etcd, as a multiple of Binnacle’s', 'start')}
${lines.join('\n')}
${one}
${text(16, height - 10, machine, 'start')}
</svg>
`
}

const text = (x, y, content, anchor) =>
  `<text x="${Number(x).toFixed(1)}" y="${y}" text-anchor="${anchor}" fill="#222">${escaped(content)}</text>`
const escaped = content => content.replace(/[&<>]/g, character => `&#${character.charCodeAt(0)};`)
