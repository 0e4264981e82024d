import { expect, test } from 'vitest'
import { createMetrics } from './metrics.js'

test('each combination of label values is counted on its own, families are sorted by name', async () => {
  const metrics = createMetrics()
  const requests = metrics.counter('requests_total', 'Requests.', ['verb', 'code'])
  requests.with('GET', '200').inc()
  requests.with('GET', '200').inc(2)
  requests.with('PUT', '409').inc()
  metrics.gauge('depth', 'Depth.', []).with().set(1.5)
  expect(await metrics.print()).toBe(
    [
      '# HELP depth Depth.',
      '# TYPE depth gauge',
      'depth 1.5',
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{code="200",verb="GET"} 3',
      'requests_total{code="409",verb="PUT"} 1',
      '',
    ].join('\n'),
  )
})

test('buckets of a histogram include those below', async () => {
  const metrics = createMetrics()
  const seconds = metrics.histogram('seconds', 'Seconds.', ['verb'], [0.1, 1])
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.with('GET').observe(value)
  expect((await metrics.print()).split('\n').slice(2)).toEqual([
    'seconds_bucket{verb="GET",le="0.1"} 2',
    'seconds_bucket{verb="GET",le="1"} 3',
    'seconds_bucket{verb="GET",le="+Inf"} 4',
    'seconds_sum{verb="GET"} 7.65',
    'seconds_count{verb="GET"} 4',
    '',
  ])
})

test('a name that is registered twice is one family, and never of two types', async () => {
  const metrics = createMetrics()
  metrics.counter('adds', 'Adds.', ['name']).with('a').inc()
  metrics.counter('adds', 'Adds.', ['name']).with('a').inc()
  expect(await metrics.print()).toMatch('adds{name="a"} 2')
  expect(() => metrics.gauge('adds', 'Adds.', ['name'])).toThrow('is a counter')
})

test('gauges are measured before each page, and a measurement that fails leaves the others', async () => {
  const metrics = createMetrics()
  const objects = metrics.gauge('objects', 'Objects.', ['resource'])
  let calls = 0
  metrics.onCollect(() => {
    objects.reset()
    objects.with(`r${++calls}`).set(calls)
  })
  metrics.onCollect(async () => {
    throw new Error('the store does not answer')
  })
  expect(await metrics.print()).toMatch('objects{resource="r1"} 1')
  const second = await metrics.print()
  expect(second).toMatch('objects{resource="r2"} 2')
  expect(second).not.toMatch('r1')
})

test('label values and help are escaped, and a family without cells is left out', async () => {
  const metrics = createMetrics()
  metrics.counter('unused', 'Unused.', ['a'])
  metrics.counter('odd', 'a\\b\nc', ['a']).with('x"y\\z\n').inc()
  expect(await metrics.print()).toBe('# HELP odd a\\\\b\\nc\n# TYPE odd counter\nodd{a="x\\"y\\\\z\\n"} 1\n')
})

test('a measure that does not end is not waited for', async () => {
  const metrics = createMetrics()
  const size = metrics.gauge('size', 'Size.', []).with()
  size.set(3)
  metrics.onCollect(() => new Promise(() => {}))
  expect(await metrics.print()).toContain('size 3')
})

test('families can be left out, and values of labels limited', async () => {
  const allowedLabels = new Map([['requests', new Map([['verb', new Set(['GET'])]])]])
  const metrics = createMetrics({ disabled: new Set(['secret']), allowedLabels })
  const requests = metrics.counter('requests', 'Requests.', ['verb', 'code'])
  for (const verb of ['GET', 'PUT', 'POST']) requests.with(verb, '200').inc()
  metrics.gauge('secret', 'Nothing.', []).with().set(1)
  const page = await metrics.print()
  expect(page).toContain('requests{code="200",verb="GET"} 1\nrequests{code="200",verb="unexpected"} 2\n')
  expect(page).toContain('\ncardinality_enforcement_unexpected_categorizations_total 2\n')
  expect(page).not.toContain('secret')
})
