// CEL expressions from a grammar that follows types, so that most of them compile.

/** Expressions of a type: `int`, `double`, `string`, `bool`, `bytes`, `timestamp`, `duration`, `list`, `map`, … */
export function expressionOf(random, type, depth = 3) {
  if (random.chance(0.012)) return expressionOf(random, random.pick(TYPES), depth)
  const leaves = LEAVES[type]
  if (depth <= 0 || random.chance(0.15)) return random.pick(leaves)
  return random.pick(RULES[type])(inner => expressionOf(random, inner, depth - 1), random)
}

export const SELF = {
  type: 'object',
  properties: {
    i: { type: 'integer' },
    j: { type: 'integer' },
    d: { type: 'number' },
    s: { type: 'string', maxLength: 20 },
    t: { type: 'string', maxLength: 20 },
    b: { type: 'boolean' },
    l: { type: 'array', maxItems: 5, items: { type: 'integer' } },
    ls: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 10 } },
    m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'string', maxLength: 10 } },
    o: { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'string', maxLength: 10 } } },
    when: { type: 'string', format: 'date-time' },
    long: { type: 'string', format: 'duration' },
    by: { type: 'string', format: 'byte', maxLength: 20 },
    ios: { 'x-kubernetes-int-or-string': true, maxLength: 10 },
    any: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object' },
    set: { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'set', items: { type: 'string', maxLength: 10 } },
    n: { type: 'string', nullable: true, maxLength: 10 },
  },
}

const SAMPLE = {
  i: 3,
  j: -4,
  d: 2.5,
  s: 'Hello',
  t: 'a,b;c',
  b: true,
  l: [3, 1, 2],
  ls: ['x', 'yy', 'x'],
  m: { k: 'v', 'q r': 'w' },
  o: { x: 7, y: 'in' },
  when: '2024-02-29T12:30:45.5Z',
  long: '1h30m',
  by: 'aGk=',
  ios: '50%',
  any: { z: 1 },
  set: ['p', 'q'],
  n: null,
}

/** Objects to evaluate on. */
export const sampleValues = random => {
  const value = structuredClone(SAMPLE)
  if (random.chance(0.5)) for (const key of Object.keys(value)) if (random.chance(0.2)) delete value[key]
  if (random.chance(0.5))
    Object.assign(value, {
      i: random.pick([0, 7, -1]),
      s: random.pick(['', 'äöü😀', 'ABC', '1.2.3', '10.0.0.1', 'http://u@h:80/p?q=1#f']),
      l: random.pick([[], [1], [2, 2]]),
    })
  return value
}

const LEAVES = {
  int: ['self.i', 'self.j', '0', '1', '-7', '42', 'self.o.x', 'size(self.s)', '9223372036854775807'],
  uint: ['1u', '0u', 'uint(self.o.x)', '18446744073709551615u'],
  double: ['self.d', '1.5', '-0.0', '1e10', 'double(self.i)'],
  string: ['self.s', 'self.t', "''", "'abc'", "'a,b'", "'Ünï'", 'self.o.y', "'%'", 'r"\\d+"'],
  bool: ['self.b', 'true', 'false', 'has(self.s)', 'has(self.o.y)', 'has(self.n)'],
  bytes: ["b'ab'", 'self.by', "b'\\xff'", 'bytes(self.s)'],
  timestamp: [
    'self.when',
    "timestamp('2024-03-10T08:00:00Z')",
    "timestamp('1970-01-01T00:00:00Z')",
    'timestamp(self.i)',
  ],
  duration: ['self.long', "duration('90m')", "duration('1.5s')", "duration('-3h')"],
  ints: ['self.l', '[1, 2, 3]', '[]', '[self.i]'],
  strings: ['self.ls', "['a', 'b']", 'self.set', "'a,b'.split(',')"],
  map: ['self.m', "{'a': 'b'}", '{}'],
  quantity: ["quantity('1Gi')", "quantity('1.5')", "quantity('100m')"],
  url: ["url('https://example.com:80/a?b=c&b=d')", "url('/x')"],
  ip: ["ip('10.0.0.1')", "ip('::1')"],
  cidr: ["cidr('10.0.0.0/8')", "cidr('::1/128')"],
  semver: ["semver('1.2.3')", "semver('1.2.3-a+b')"],
  optional: ['self.?s', "optional.of('x')", 'optional.none()', "self.m[?'k']", 'self.ls[?0]'],
}
const TYPES = Object.keys(LEAVES)

const ARITHMETIC = ['+', '-', '*', '/', '%']
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=']
const PARTS = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
]
const ZONES = ["''", "'UTC'", "'America/New_York'", "'+05:30'", "'-02:00'", "'Asia/Kathmandu'", "'Nowhere/City'"]
const FORMATS = ['%s', '%d', '%f', '%.2f', '%e', '%x', '%X', '%o', '%b', '%%', '%z', '%.1e']

const RULES = {
  int: [
    (e, r) => `(${e('int')} ${r.pick(ARITHMETIC)} ${e('int')})`,
    e => `-(${e('int')})`,
    e => `size(${e('string')})`,
    e => `${e('ints')}.size()`,
    e => `size(${e('map')})`,
    e => `int(${e('double')})`,
    e => `int(${e('string')})`,
    e => `int(${e('timestamp')})`,
    e => `(${e('bool')} ? ${e('int')} : ${e('int')})`,
    e => `${e('string')}.indexOf(${e('string')})`,
    e => `${e('string')}.lastIndexOf(${e('string')})`,
    e => `${e('string')}.indexOf(${e('string')}, ${e('int')})`,
    (e, r) => `${e('timestamp')}.${r.pick(PARTS)}()`,
    (e, r) => `${e('timestamp')}.${r.pick(PARTS)}(${r.pick(ZONES)})`,
    (e, r) => `${e('duration')}.${r.pick(['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'])}()`,
    e => `${e('ints')}.sum()`,
    (e, r) => `${e('ints')}.${r.pick(['min', 'max'])}()`,
    e => `${e('ints')}[${e('int')}]`,
    e => `${e('ints')}.indexOf(${e('int')})`,
    e => `math.abs(${e('int')})`,
    e => `math.greatest(${e('int')}, ${e('int')})`,
    e => `${e('quantity')}.compareTo(${e('quantity')})`,
    e => `${e('quantity')}.asInteger()`,
    e => `${e('semver')}.minor()`,
    e => `${e('ip')}.family()`,
    e => `${e('cidr')}.prefixLength()`,
    e => `sign(${e('quantity')})`,
    e => `int(${e('uint')})`,
    e => `${e('ints')}.map(x, x * 2).sum()`,
    (e, r) =>
      `math.${r.pick(['bitAnd', 'bitOr', 'bitXor', 'bitShiftLeft', 'bitShiftRight'])}(${e('int')}, ${e('int')})`,
    e => `${e('ints')}.filter(x, x > ${e('int')}).size()`,
    e => `optional.of(${e('int')}).orValue(${e('int')})`,
  ],
  uint: [
    (e, r) => `(${e('uint')} ${r.pick(ARITHMETIC)} ${e('uint')})`,
    e => `uint(${e('int')})`,
    e => `uint(${e('string')})`,
  ],
  double: [
    (e, r) => `(${e('double')} ${r.pick(['+', '-', '*', '/'])} ${e('double')})`,
    e => `double(${e('int')})`,
    e => `double(${e('string')})`,
    (e, r) => `math.${r.pick(['ceil', 'floor', 'round', 'trunc', 'sign', 'abs'])}(${e('double')})`,
    e => `${e('quantity')}.asApproximateFloat()`,
    e => `-(${e('double')})`,
    e => `(${e('bool')} ? ${e('double')} : ${e('double')})`,
    e => `math.least(${e('double')}, ${e('double')})`,
    e => `math.sqrt(${e('double')})`,
  ],
  string: [
    e => `(${e('string')} + ${e('string')})`,
    e => `string(${e('int')})`,
    e => `string(${e('double')})`,
    e => `string(${e('bool')})`,
    e => `string(${e('bytes')})`,
    e => `string(${e('timestamp')})`,
    e => `string(${e('duration')})`,
    (e, r) => `${e('string')}.${r.pick(['lowerAscii', 'upperAscii', 'trim'])}()`,
    e => `${e('string')}.charAt(${e('int')})`,
    e => `${e('string')}.substring(${e('int')})`,
    e => `${e('string')}.substring(${e('int')}, ${e('int')})`,
    e => `${e('string')}.replace(${e('string')}, ${e('string')})`,
    e => `${e('string')}.replace(${e('string')}, ${e('string')}, ${e('int')})`,
    e => `${e('strings')}.join(${e('string')})`,
    e => `${e('strings')}.join()`,
    (e, r) =>
      `'${r.pick(FORMATS)}|${r.pick(FORMATS)}'.format([${e(r.pick(TYPES))}, ${e(r.pick(['int', 'double', 'string', 'ints', 'map']))}])`,
    (e, r) =>
      `'${r.pick(FORMATS)}'.format([${e(r.pick(['int', 'double', 'string', 'bool', 'timestamp', 'duration', 'bytes', 'ints']))}])`,
    e => `${e('string')}.find(${e('string')})`,
    e => `${e('string')}.findAll('[a-z]').join('-')`,
    e => `strings.quote(${e('string')})`,
    e => `(${e('bool')} ? ${e('string')} : ${e('string')})`,
    e => `${e('map')}['k']`,
    e => `${e('strings')}[${e('int')}]`,
    (e, r) => `${e('url')}.${r.pick(['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'])}()`,
    e => `string(${e('ip')})`,
    e => `string(${e('cidr')})`,
    e => `string(${e('quantity')})`,
    e => `${e('optional')}.orValue(${e('string')})`,
    e => `string(type(${e('int')}))`,
    e => `string(${e('url')})`,
    e => `${e('ip')}.isUnspecified() ? 'u' : string(${e('semver')})`,
  ],
  bool: [
    (e, r) => `(${e('int')} ${r.pick(COMPARISONS)} ${e('int')})`,
    (e, r) => `(${e('double')} ${r.pick(COMPARISONS)} ${e('int')})`,
    (e, r) => `(${e('string')} ${r.pick(COMPARISONS)} ${e('string')})`,
    (e, r) => `(${e('timestamp')} ${r.pick(COMPARISONS)} ${e('timestamp')})`,
    (e, r) => `(${e('duration')} ${r.pick(COMPARISONS)} ${e('duration')})`,
    e => `(${e('bool')} && ${e('bool')})`,
    e => `(${e('bool')} || ${e('bool')})`,
    e => `!(${e('bool')})`,
    (e, r) => `${e('string')}.${r.pick(['startsWith', 'endsWith', 'contains'])}(${e('string')})`,
    e => `${e('string')}.matches('^[a-zA-Z]+$')`,
    e => `${e('string')}.matches(${e('string')})`,
    e => `(${e('int')} in ${e('ints')})`,
    e => `(${e('string')} in ${e('map')})`,
    e => `(${e('string')} in ${e('strings')})`,
    (e, r) => `${e('ints')}.${r.pick(['all', 'exists', 'exists_one'])}(x, x ${r.pick(COMPARISONS)} ${e('int')})`,
    (e, r) => `${e('map')}.${r.pick(['all', 'exists'])}(k, k.startsWith(${e('string')}))`,
    e => `${e('ints')}.isSorted()`,
    e => `isQuantity(${e('string')})`,
    e => `isURL(${e('string')})`,
    e => `isIP(${e('string')})`,
    e => `isCIDR(${e('string')})`,
    e => `isSemver(${e('string')})`,
    e => `${e('quantity')}.isLessThan(${e('quantity')})`,
    e => `${e('cidr')}.containsIP(${e('ip')})`,
    e => `${e('cidr')}.containsCIDR(${e('cidr')})`,
    (e, r) => `${e('ip')}.${r.pick(['isLoopback', 'isGlobalUnicast', 'isLinkLocalMulticast'])}()`,
    e => `(${e('ints')} == ${e('ints')})`,
    e => `(${e('map')} == ${e('map')})`,
    e => `(${e('ip')} == ${e('ip')})`,
    e => `${e('optional')}.hasValue()`,
    e => `(type(${e('int')}) == int)`,
    e => `(self.ios == ${e('int')})`,
    e => `(dyn(self.ios) == ${e('string')})`,
    e => `sets.contains(${e('ints')}, ${e('ints')})`,
    e => `sets.intersects(${e('strings')}, ${e('strings')})`,
    e => `!format.dns1123Label().validate(${e('string')}).hasValue()`,
    e => `(${e('uint')} == ${e('int')})`,
    e => `(${e('bytes')} == ${e('bytes')})`,
    e => `${e('semver')}.isGreaterThan(${e('semver')})`,
    e => `math.isNaN(${e('double')})`,
    e => `(${e('quantity')} == ${e('quantity')})`,
  ],
  bytes: [e => `(${e('bytes')} + ${e('bytes')})`, e => `bytes(${e('string')})`, e => `base64.decode(${e('string')})`],
  timestamp: [
    e => `(${e('timestamp')} + ${e('duration')})`,
    e => `(${e('timestamp')} - ${e('duration')})`,
    e => `timestamp(${e('string')})`,
    e => `timestamp(${e('int')})`,
  ],
  duration: [
    e => `(${e('duration')} + ${e('duration')})`,
    e => `(${e('timestamp')} - ${e('timestamp')})`,
    e => `duration(${e('string')})`,
  ],
  ints: [
    e => `(${e('ints')} + ${e('ints')})`,
    e => `[${e('int')}, ${e('int')}]`,
    e => `${e('ints')}.map(x, x + ${e('int')})`,
    e => `${e('ints')}.filter(x, x != ${e('int')})`,
    e => `${e('ints')}.slice(${e('int')}, ${e('int')})`,
    e => `${e('ints')}.sort()`,
    e => `${e('ints')}.reverse()`,
    e => `${e('ints')}.distinct()`,
    () => 'lists.range(3)',
  ],
  strings: [
    e => `(${e('strings')} + ${e('strings')})`,
    e => `${e('string')}.split(${e('string')})`,
    e => `${e('string')}.split(${e('string')}, ${e('int')})`,
    e => `${e('map')}.map(k, k)`,
    e => `[${e('string')}]`,
    e => `${e('strings')}.filter(x, x.size() > 1)`,
    e => `${e('string')}.findAll(${e('string')})`,
    () => "self.ls.map(x, x + 'z')",
  ],
  map: [
    e => `{${e('string')}: ${e('string')}}`,
    e => `{'a': ${e('string')}, 'b': ${e('string')}}`,
    e => `(${e('bool')} ? ${e('map')} : ${e('map')})`,
    e => `${e('map')}.transformMap(k, v, v + k)`,
  ],
  quantity: [
    e => `quantity(${e('string')})`,
    e => `${e('quantity')}.add(${e('quantity')})`,
    e => `${e('quantity')}.sub(${e('int')})`,
  ],
  url: [e => `url(${e('string')})`],
  ip: [e => `ip(${e('string')})`, e => `${e('cidr')}.ip()`],
  cidr: [e => `cidr(${e('string')})`, e => `${e('cidr')}.masked()`],
  semver: [e => `semver(${e('string')})`],
  optional: [
    e => `self.m[?${e('string')}]`,
    e => `optional.of(${e('string')})`,
    e => `${e('optional')}.optMap(x, x + 'y')`,
    e => `${e('optional')}.or(${e('optional')})`,
    e => `optional.ofNonZeroValue(${e('string')})`,
  ],
}

/** An expression of a string that shows the value of an expression of any type. */
export function shown(random, depth = 3) {
  const type = random.pick([
    'int',
    'double',
    'string',
    'bool',
    'bytes',
    'timestamp',
    'duration',
    'ints',
    'strings',
    'uint',
    'quantity',
    'map',
    'optional',
  ])
  const value = expressionOf(random, type, depth)
  switch (type) {
    case 'string':
      return `'>' + ${value}`
    case 'ints':
      return `'>' + ${value}.map(x, string(x)).join(',')`
    case 'strings':
      return `'>' + ${value}.join(',')`
    case 'map':
      return `'>' + '%s'.format([${value}])`
    case 'optional':
      return `'>' + ${value}.orValue('none')`
    default:
      return `'>' + string(${value})`
  }
}
