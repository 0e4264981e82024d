// Counters, gauges and histograms in Prometheus' sense, one registry per server. A room registers the metrics that it
// counts; the server prints all of them at /metrics. Written here and not taken from prom-client because loading that
// package takes 40 ms of a start, and looking up a cell by labels has to cost little: every request does it.

import { setTimeout as sleep } from 'node:timers/promises'
import { createTimingHistogram, type TimingHistogram } from './timing-histogram.js'

export type { TimingHistogram }

export interface Counter {
  /** Adds 1 when nothing is given. */
  inc(by?: number): void
}

export interface Gauge {
  set(value: number): void
  inc(by?: number): void
  dec(by?: number): void
}

export interface Histogram {
  /** `times`: how often the value was measured, 1 when nothing is given. */
  observe(value: number, times?: number): void
}

/** All cells of one metric, one for each combination of label values. */
export interface Family<Labels extends readonly string[], Cell> {
  readonly name: string
  /** The cell of these label values, in the order in which the labels were declared; created on first use. */
  with(...values: { readonly [I in keyof Labels]: string }): Cell
  /** Drops all cells, for gauges whose labels name things that come and go. */
  reset(): void
}

export interface MetricsRegistry {
  /** Registering a name again gives the family that exists. */
  counter<const L extends readonly string[]>(name: string, help: string, labels: L): Family<L, Counter>
  /** A counter that is counted elsewhere, in plain numbers, and set before each page. */
  setCounter<const L extends readonly string[]>(name: string, help: string, labels: L): Family<L, Pick<Gauge, 'set'>>
  gauge<const L extends readonly string[]>(name: string, help: string, labels: L): Family<L, Gauge>
  histogram<const L extends readonly string[]>(
    name: string,
    help: string,
    labels: L,
    buckets: readonly number[],
  ): Family<L, Histogram>
  /** A histogram of a value over time: each nanosecond counts the value that it had. */
  timingHistogram<const L extends readonly string[]>(
    name: string,
    help: string,
    labels: L,
    buckets: readonly number[],
  ): Family<L, TimingHistogram>
  /** Only the number and the sum of values, without quantiles. */
  summary<const L extends readonly string[]>(name: string, help: string, labels: L): Family<L, Histogram>
  /** Registers a function that sets gauges before each page. If it fails or takes long, they keep the values they had. */
  onCollect(measure: () => void | Promise<void>): void
  /** The page in Prometheus' text format, families in order of their names. */
  print(): Promise<string>
  /** The cells of these families as they are now; families that do not exist have none. */
  read(...names: readonly string[]): Promise<ReadonlyMap<string, readonly Sample[]>>
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  /** Of a histogram, how many values there were. */
  readonly value: number
  /** Of a histogram: the sum of the values, and how many are not above each bound. */
  readonly sum?: number
  readonly buckets?: readonly { readonly bound: number; readonly count: number }[]
}

export const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Type = 'counter' | 'gauge' | 'histogram' | 'summary'
type Print = (name: string, labels: string, lines: string[]) => void
type Read = () => Omit<Sample, 'labels'>
type AnyFamily = Family<readonly string[], unknown> & {
  readonly type: Type
  print(lines: string[]): void
  read(): readonly Sample[]
}

const UNEXPECTED = 'cardinality_enforcement_unexpected_categorizations_total'
const UNEXPECTED_HELP = '[ALPHA] The count of unexpected categorizations during cardinality enforcement.'

/** The page is wanted most while something does not answer, and those who read it do not wait long. */
const MEASURE_MS = 2000

export interface MetricsOptions {
  /** Families that are not printed. */
  readonly disabled?: ReadonlySet<string> | undefined
  /** By family and label, the values that are kept; others become `unexpected`. */
  readonly allowedLabels?: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> | undefined
}

export function createMetrics({ disabled, allowedLabels }: MetricsOptions = {}): MetricsRegistry {
  const families = new Map<string, AnyFamily>()
  const measures: (() => void | Promise<void>)[] = []
  let unexpected = 0

  function register<L extends readonly string[], C extends { print: Print; read: Read }>(
    type: Type,
    name: string,
    help: string,
    labels: L,
    create: () => C,
  ): Family<L, C> {
    let family = families.get(name)
    if (family === undefined) {
      const limits = allowedLabels?.get(name)
      const valueOf = limits && ((label: string, value: string) => allowedValue(limits.get(label), value))
      family = createFamily(type, name, help, labels, create, valueOf)
      families.set(name, family)
    } else if (family.type !== type) {
      throw new Error(`the metric ${name} is a ${family.type}, it cannot be registered as a ${type}`)
    }
    return family as Family<L, C>
  }

  function allowedValue(allowed: ReadonlySet<string> | undefined, value: string): string {
    if (!allowed || allowed.has(value)) return value
    unexpected++
    return 'unexpected'
  }

  const measureAll = async (): Promise<void> => {
    const late = new AbortController()
    const measured = Promise.allSettled(measures.map(async measure => measure()))
    await Promise.race([measured, sleep(MEASURE_MS, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
  }

  return {
    counter: (name, help, labels) => register('counter', name, help, labels, createNumber),
    setCounter: (name, help, labels) => register('counter', name, help, labels, createNumber),
    gauge: (name, help, labels) => register('gauge', name, help, labels, createNumber),
    histogram: (name, help, labels, buckets) =>
      register('histogram', name, help, labels, () => createHistogram(buckets)),
    timingHistogram: (name, help, labels, buckets) =>
      register('histogram', name, help, labels, () => createTimedCell(buckets)),
    summary: (name, help, labels) => register('summary', name, help, labels, createSummary),
    onCollect: measure => void measures.push(measure),
    async read(...names) {
      await measureAll()
      return new Map(names.map(name => [name, families.get(name)?.read() ?? []]))
    },
    async print() {
      await measureAll()
      if (allowedLabels) register('counter', UNEXPECTED, UNEXPECTED_HELP, [], createNumber).with().set(unexpected)
      const lines: string[] = []
      for (const name of [...families.keys()].toSorted()) {
        if (!disabled?.has(name)) families.get(name)!.print(lines)
      }
      lines.push('')
      return lines.join('\n')
    },
  }
}

function createFamily<C extends { print: Print; read: Read }>(
  type: Type,
  name: string,
  help: string,
  labels: readonly string[],
  create: () => C,
  /** The value that a label gets for the one that is given. */
  valueOf?: (label: string, value: string) => string,
): Family<readonly string[], C> & AnyFamily {
  const cells = new Map<string, { readonly labels: string; readonly values: readonly string[]; readonly cell: C }>()
  return {
    type,
    name,
    with(...given) {
      const values = valueOf ? given.map((value, i) => valueOf(labels[i]!, value)) : given
      // NUL stands in no label value: names of resources, verbs and codes do not contain it.
      const key = values.length === 1 ? values[0]! : values.join('\0')
      let found = cells.get(key)
      if (found === undefined) cells.set(key, (found = { labels: printLabels(labels, values), values, cell: create() }))
      return found.cell
    },
    reset: () => cells.clear(),
    read: () =>
      Array.from(cells.values(), ({ values, cell }) => ({
        labels: Object.fromEntries(labels.map((label, i) => [label, values[i]!])),
        ...cell.read(),
      })),
    print(lines) {
      if (cells.size === 0) return
      lines.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`)
      for (const each of cells.values()) each.cell.print(name, each.labels, lines)
    },
  }
}

function createNumber(): Gauge & { print: Print; read: Read } {
  let current = 0
  return {
    set: value => void (current = value),
    inc: (by = 1) => void (current += by),
    dec: (by = 1) => void (current -= by),
    read: () => ({ value: current }),
    print: (name, labels, lines) => void lines.push(`${name}${braced(labels)} ${printNumber(current)}`),
  }
}

function createHistogram(bounds: readonly number[]): Histogram & { print: Print; read: Read } {
  // How many values are above the previous bound and not above this one; the last count is of those above all bounds.
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  // A fraction in a variable of a closure would be a new object for each value.
  const total = { sum: 0 }
  return {
    observe(value, times = 1) {
      let i = 0
      while (i < bounds.length && value > bounds[i]!) i++
      counts[i]! += times
      total.sum += value * times
    },
    read() {
      let count = 0
      const buckets = counts.map((more, i) => ({ bound: bounds[i] ?? Infinity, count: (count += more) }))
      return { value: count, sum: total.sum, buckets }
    },
    print(name, labels, lines) {
      printBuckets(name, labels, lines, this.read())
    },
  }
}

function printBuckets(
  name: string,
  labels: string,
  lines: string[],
  { value, sum = 0, buckets = [] }: ReturnType<Read>,
  printCount: (count: number) => string = String,
): void {
  const before = labels === '' ? '' : `${labels},`
  for (const { bound, count } of buckets) {
    lines.push(`${name}_bucket{${before}le="${printNumber(bound)}"} ${printCount(count)}`)
  }
  lines.push(`${name}_sum${braced(labels)} ${printNumber(sum)}`, `${name}_count${braced(labels)} ${printCount(value)}`)
}

function createTimedCell(bounds: readonly number[]): TimingHistogram & { print: Print; read: Read } {
  const histogram = createTimingHistogram(bounds)
  const read: Read = () => {
    const { counts, sum } = histogram.counted(performance.now())
    let count = 0
    const buckets = counts.map((more, i) => ({ bound: bounds[i] ?? Infinity, count: (count += more) }))
    return { value: count, sum, buckets }
  }
  return { ...histogram, read, print: (name, labels, lines) => printBuckets(name, labels, lines, read(), printNumber) }
}

function createSummary(): Histogram & { print: Print; read: Read } {
  let count = 0
  let sum = 0
  return {
    observe(value, times = 1) {
      count += times
      sum += value * times
    },
    read: () => ({ value: count, sum }),
    print: (name, labels, lines) =>
      void lines.push(`${name}_sum${braced(labels)} ${printNumber(sum)}`, `${name}_count${braced(labels)} ${count}`),
  }
}

/** In the order of the names, as Go's Prometheus client writes them. */
const printLabels = (names: readonly string[], values: readonly string[]): string =>
  names
    .map((name, i) => `${name}="${escapeLabel(values[i]!)}"`)
    .toSorted()
    .join(',')

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)

/** As Go's Prometheus client writes it, so that queries that name a bucket (`le="1e+06"`) find it. */
function printNumber(value: number): string {
  if (value === Infinity || value === -Infinity) return value > 0 ? '+Inf' : '-Inf'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  return value.toExponential().replace(/e([+-])([0-9])$/, 'e$10$2')
}
