// Which metrics are shown, and which values their labels may have.
import type { MetricsOptions } from '../../base/metrics.js'
import { UsageError } from '../../base/usage-error.js'
import type { Flag, FlagTable, FlagValues } from './flag.js'
import { list } from './flag-values.js'

type AllowedLabels = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const FORM = /^\s*([^,=\s]+),([^,=\s]+)=(.*)$/s

/** `metric,label='a,b'`. Any other value of the label is shown as `unexpected`. */
const allowedLabels: Flag<AllowedLabels> = {
  placeholder: "<metric>,<label>='<value>,…'",
  about: 'the values that a label of a metric may have; others are shown as "unexpected"; may be repeated',
  initial: new Map(),
  print: value =>
    `[${[...value].flatMap(([metric, labels]) => [...labels].map(([label, values]) => `${metric},${label}=${[...values].join(',')}`)).join(' ')}]`,
  /** Several in one value stand in double quotes each: `"m,a=b,c","m,d=e"`. */
  read(given, before) {
    const quoted = [...given.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text)
    return (quoted.length > 0 ? quoted : [given]).reduce(withLabel, before)
  },
}

function withLabel(before: AllowedLabels, given: string): AllowedLabels {
  const [, metric = '', label = '', values = ''] = FORM.exec(given) ?? []
  if (metric === '') throw new UsageError(`it must be a metric, a label and its values, such as m,verb='GET,LIST'`)
  const texts = values.replaceAll(/^'|'$/g, '').split(',')
  const labels = new Map(before.get(metric)).set(label, new Set(texts.map(text => text.trim())))
  return new Map(before).set(metric, labels)
}

export const metricsFlags = {
  'disabled-metrics': list('<names>', 'metrics that are not shown'),
  'allow-metric-labels': allowedLabels,
} satisfies FlagTable

export const metricsFromFlags = (flags: FlagValues<typeof metricsFlags>): MetricsOptions => ({
  disabled: new Set(flags['disabled-metrics']),
  allowedLabels: flags['allow-metric-labels'],
})
