// A table of 10,000 rows while 1,000 events arrive each second. The list and the watch are made in the page, so that the
// test measures the page and not the server.
import { expect, test } from 'vitest'
import { shared } from './browser.js'
import { VOYAGES } from './voyages.js'

const ROWS = 10_000
const SECONDS = 3
/** The time between two frames of a screen, and what an event may cost beside it. */
const MAX_FRAME_SECONDS = 1 / 60
const MAX_EVENT_SECONDS = 0.0006

interface Load {
  events: number
  frames: number[]
}

/** In the page: answers the list and the watch of voyages. */
function madeUp(): void {
  const ROW_COUNT = 10_000
  const load: Load = { events: 0, frames: [] }
  Object.assign(globalThis, { load })
  const columns = ['Name', 'Ship', 'Knots', 'Phase', 'Age'].map(name => ({
    name,
    type: name === 'Knots' ? 'integer' : 'string',
    priority: 0,
  }))
  let version = 1
  const rowOf = (index: number, knots: number) => ({
    cells: [`voyage-${index}`, 'Fram', knots, 'Running', '1m'],
    object: {
      metadata: {
        name: `voyage-${index}`,
        namespace: 'harbour',
        uid: `u${index}`,
        resourceVersion: String(version++),
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { fleet: index % 2 === 0 ? 'south' : 'north' },
      },
    },
  })
  const table = (rows: unknown[], withColumns = true) => ({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: String(version) },
    ...(withColumns && { columnDefinitions: columns }),
    rows,
  })
  const watch = (): Response => {
    const encoder = new TextEncoder()
    let timer = 0
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        let at = performance.now()
        let owed = 0
        timer = window.setInterval(() => {
          const now = performance.now()
          owed += now - at
          at = now
          // One event a millisecond; every tenth is a new object, and every tenth a deletion.
          let text = ''
          for (; owed >= 1; owed--) {
            const number = load.events++
            const kind = number % 10 === 0 ? 'ADDED' : number % 10 === 5 ? 'DELETED' : 'MODIFIED'
            const index = kind === 'MODIFIED' ? (number * 7919) % ROW_COUNT : ROW_COUNT + Math.floor(number / 10)
            text += `${JSON.stringify({ type: kind, object: table([rowOf(index, number % 40)], false) })}\n`
          }
          if (text !== '') controller.enqueue(encoder.encode(text))
        }, 10)
      },
      cancel: () => clearInterval(timer),
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  const original = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString()
    if (!url.includes('/apis/sea.example.com/')) return original(input, init)
    if (url.includes('watch=true')) return watch()
    const rows = Array.from({ length: ROW_COUNT }, (_, index) => rowOf(index, index % 40))
    return Response.json(table(rows))
  }
}

export function testLoad(): void {
  test('10,000 rows with 1,000 events a second leave the page free', async () => {
    const page = await shared.openAnother(`${VOYAGES}?namespace=harbour`, madeUp)
    await page.getByText('10,0').first().waitFor()
    const client = await page.context().newCDPSession(page)
    await client.send('Performance.enable')
    const measure = async (): Promise<ReadonlyMap<string, number>> => {
      const { metrics } = await client.send('Performance.getMetrics')
      return new Map(metrics.map(({ name, value }) => [name, value]))
    }
    const before = await measure()
    const { events, frames, rows } = await page.evaluate(async seconds => {
      const { load } = globalThis as unknown as { load: Load }
      const first = load.events
      const scroller = document.querySelector('.data-table')!
      const end = performance.now() + seconds * 1000
      let most = 0
      await new Promise<void>(resolve => {
        const frame = (): void => {
          load.frames.push(performance.now())
          scroller.scrollTop += 400
          most = Math.max(most, document.querySelectorAll('.data-row').length)
          if (performance.now() < end) requestAnimationFrame(frame)
          else resolve()
        }
        requestAnimationFrame(frame)
      })
      return { events: load.events - first, frames: load.frames.length, rows: most }
    }, SECONDS)
    const after = await measure()
    const spent = (name: string): number => after.get(name)! - before.get(name)!
    // Processor time of the page's main thread, which does not grow when other programs keep the machine busy.
    const busy = spent('ThreadTime')
    // Only rows in sight are in the document, however many there are and however fast one scrolls.
    expect(rows).toBeGreaterThan(10)
    expect(rows).toBeLessThan(80)
    expect(events).toBeGreaterThan(0.8 * 1000 * SECONDS)
    // A quiet machine draws more frames, each with fewer events. The number of frames itself only shows that it goes on.
    expect(busy).toBeLessThan(frames * MAX_FRAME_SECONDS + events * MAX_EVENT_SECONDS)
    expect(frames / SECONDS).toBeGreaterThan(2)
    if (process.env['FIGURES'] === '1')
      console.log({ rows: ROWS, events, frames: frames / SECONDS, busy: busy / SECONDS })
    await page.close()
  })
}
