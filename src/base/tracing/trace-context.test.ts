import { expect, test } from 'vitest'
import { parseTraceContext, traceHeaders } from './trace-context.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test('a trace is passed on as it came', () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`
  const context = parseTraceContext(traceparent, 'vendor=1')
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true, state: 'vendor=1' })
  expect(traceHeaders(context!)).toEqual({ traceparent, tracestate: 'vendor=1' })
  const unsampled = `00-${TRACE}-${SPAN}-00`
  expect(traceHeaders(parseTraceContext(unsampled, undefined)!)).toEqual({ traceparent: unsampled })
})

test.each([
  undefined,
  '',
  'nonsense',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
])('%j names no trace', header => {
  expect(parseTraceContext(header, undefined)).toBeUndefined()
})

test('a later version may have more', () => {
  expect(parseTraceContext(`01-${TRACE}-${SPAN}-03-more`, undefined)).toMatchObject({ traceId: TRACE, isSampled: true })
})
