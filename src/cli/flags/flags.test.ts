import { describe, expect, test } from 'vitest'
import {
  booleans,
  choice,
  count,
  duration,
  list,
  optionalText,
  port,
  text,
  toggle,
} from '../../server/options/flag-values.js'
import { parseFlags, printFlags } from './flags.js'

const table = {
  'secure-port': port('the port', 6443),
  'http-port': port('another port', undefined),
  'data-dir': text('<folder>', 'the folder', '/data'),
  'cert-dir': optionalText('<folder>', 'certificates'),
  storage: choice(['lmdb', 'memory'], 'where', undefined),
  servers: list('<urls>', 'servers', ['one']),
  'anonymous-auth': toggle('let in', true),
  'request-timeout': duration('how long', 60_000),
  limit: count('how many', 400),
  gates: booleans('<gate>=true', 'features', 'A=true'),
}
const others = new Map([
  ['event-ttl', { isSwitch: false }],
  ['profiling', { isSwitch: true }],
  ['v', { isSwitch: false }],
  ['audit-log-path', { isSwitch: false, refusal: 'there is no audit log' }],
])
const parse = (...args: string[]) => parseFlags(args, table, others)

test('flags that are not given have their defaults', () => {
  const { values, given, ignored } = parse()
  expect(values).toEqual({
    'secure-port': 6443,
    'http-port': undefined,
    'data-dir': '/data',
    'cert-dir': undefined,
    storage: undefined,
    servers: ['one'],
    'anonymous-auth': true,
    'request-timeout': 60_000,
    limit: 400,
    gates: {},
  })
  expect([...given, ...ignored]).toEqual([])
})

test.each([
  [['--secure-port=0'], { 'secure-port': 0 }],
  [['--secure-port', '8443'], { 'secure-port': 8443 }],
  [['--secure_port=1'], { 'secure-port': 1 }],
  [['--data-dir=a=b'], { 'data-dir': 'a=b' }],
  [['--data-dir', '--odd'], { 'data-dir': '--odd' }],
  [['--storage=memory'], { storage: 'memory' }],
  [['--servers=a,b', '--servers', 'c'], { servers: ['a', 'b', 'c'] }],
  [['--anonymous-auth=false'], { 'anonymous-auth': false }],
  [['--anonymous-auth=0', '--anonymous-auth'], { 'anonymous-auth': true }],
  [['--request-timeout=1m30s'], { 'request-timeout': 90_000 }],
  [['--request-timeout=1.5h'], { 'request-timeout': 5_400_000 }],
  [['--request-timeout=0'], { 'request-timeout': 0 }],
  [['--gates=A=true,B=false', '--gates=B=true,C'], { gates: { A: true, B: true, C: true } }],
])('%j is read', (args, expected) => {
  expect(parse(...args).values).toMatchObject(expected)
})

test.each([
  [['--secure-port=x'], '--secure-port=x: a port is a whole number from 0 to 65535'],
  [['--secure-port=65536'], '--secure-port=65536: a port is a whole number from 0 to 65535'],
  [['--secure-port='], '--secure-port=: a port is a whole number from 0 to 65535'],
  [['--secure-port'], '--secure-port needs a value: --secure-port=<port>'],
  [['--event-ttl'], '--event-ttl needs a value: --event-ttl=<value>'],
  [['--storage=disk'], '--storage=disk: it must be one of lmdb, memory'],
  [['--anonymous-auth=maybe'], '--anonymous-auth=maybe: it must be true or false'],
  [
    ['--anonymous-auth', 'false'],
    '"false" is not a flag: all arguments are flags, --flag=value; the value of a switch follows a "=", as in --anonymous-auth=false',
  ],
  [['run'], '"run" is not a flag: all arguments are flags, --flag=value'],
  [['--request-timeout=60'], '--request-timeout=60: it must be a duration such as 30s, 1m30s or 500ms'],
  [['--limit=-1'], '--limit=-1: it must be a whole number, 0 or more'],
  [['--gates=A=yes'], '--gates=A=yes: "A=yes" must be a name and true or false, such as A=true'],
  [['--secure-prot=1'], 'there is no flag --secure-prot: did you mean --secure-port?'],
  [['--event-tll=1h'], 'there is no flag --event-tll: did you mean --event-ttl?'],
  [['--something-else-altogether'], 'there is no flag --something-else-altogether: --help shows all flags'],
  [['--audit-log-path=-'], '--audit-log-path is refused: there is no audit log'],
  [['--audit_log_path'], '--audit-log-path is refused: there is no audit log'],
  [['--toString'], 'there is no flag --toString: --help shows all flags'],
])('%j is refused', (args, message) => {
  expect(() => parse(...args)).toThrow(message)
})

describe('flags without effect', () => {
  test('are named once, however often they are given', () => {
    const { ignored, values } = parse('--event-ttl', '1h', '--event-ttl=2h', '--profiling', '-v=2', '--limit=1')
    expect(ignored).toEqual(['event-ttl', 'profiling', 'v'])
    expect(values.limit).toBe(1)
  })

  test('consume their value if they have one', () => {
    expect(parse('-v', '2', '--profiling', '--limit=2').values.limit).toBe(2)
    expect(parse('--profiling=false', '--event-ttl', '--limit=2').values.limit).toBe(400)
  })
})

test('help shows each flag, its value and its default', () => {
  expect(printFlags({ 'secure-port': table['secure-port'], 'request-timeout': table['request-timeout'] })).toBe(
    '  --secure-port=<port>\n      the port (default: 6443)\n  --request-timeout=<duration>\n      how long (default: 60s)',
  )
})
