// `binnacle crd convert`: objects in another version, and the check of the conversion itself.
import { checkConversion } from '../../authoring/check-conversion.js'
import { convertObject } from '../../authoring/convert-object.js'
import { acceptDefinitions } from '../../authoring/definitions.js'
import { apiVersionIn, isDefinition, kindIn, readDocuments } from '../../authoring/documents.js'
import { createFinding, findingAt, hasAtLeast } from '../../authoring/findings.js'
import { counted } from '../../authoring/report.js'
import { UsageError } from '../../base/usage-error.js'
import { encodeYaml } from '../../codec/yaml.js'
import { StatusError } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { getOwn, isObject } from '../../meta/values/value.js'
import { optionalText, repeatedText, toggle } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { EXIT_CODES, finish, reportFlags, withUsageErrors } from '../report/report.js'

const convertFlags = {
  crds: repeatedText('FILE', 'definitions that are not among the files; may be repeated'),
  to: optionalText('VERSION', 'the version to convert to'),
  check: toggle('check the descriptions instead: that every version is reached, and what round trips lose', false),
  ...reportFlags('error'),
}

const HELP = `Usage: binnacle crd convert FILE... --to=VERSION [flags]
       binnacle crd convert FILE... --check [flags]

Converts custom objects to another version by the annotation binnacle.dev/conversion of their definition, and prints them as
YAML. --check converts generated objects there and back, and names the fields that are lost.

${EXIT_CODES}

Flags:
${printFlags(convertFlags)}
`

export const CONVERT: Command = { run: args => withUsageErrors(() => convert(args)), help: () => HELP }

async function convert(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, convertFlags)
  if (words.length === 0) throw new UsageError('there is no file to convert: binnacle crd convert FILE... --to=VERSION')
  if (!values.check && values.to === undefined)
    throw new UsageError('name the version with --to=VERSION, or check with --check')
  const read = readDocuments(words)
  const known = readDocuments(values.crds)
  const { accepted, findings, api } = await acceptDefinitions([...known.documents, ...read.documents])
  const all = [...read.findings, ...known.findings, ...findings]
  let checked = 0
  for (const each of values.check ? accepted : []) {
    const { group, names } = each.definition['spec'] as unknown as { group: string; names: { kind: string } }
    const kind = api.registry.findKind(group, names.kind)
    checked++
    if (kind) all.push(...(await checkConversion(each, kind)))
  }
  if (!values.check && !hasAtLeast(all, 'error')) {
    for (const document of read.documents.filter(each => !isDefinition(each))) {
      checked++
      const of = api.find(apiVersionIn(document), kindIn(document))
      if (of?.kind.origin !== 'custom') {
        const message = `there is no definition of ${kindIn(document)} in ${apiVersionIn(document)}`
        all.push(findingAt(document, 'kind', { rule: 'unknown-kind', severity: 'error', message }))
        continue
      }
      const meta = getOwn(document.value, 'metadata')
      const object = { ...document.value, metadata: isObject(meta) ? meta : {} } as ApiObject
      try {
        process.stdout.write(
          `---\n${encodeYaml(await convertObject(of.kind, object, `${of.kind.group}/${values.to}`))}`,
        )
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        all.push(findingAt(document, '', { rule: 'not-converted', severity: 'error', message: error.message }))
      }
    }
  }
  if (!values.check && all.length === 0) return
  if (checked === 0 && all.length === 0) {
    const at = { file: words[0]!, line: 1, column: 1, text: '' }
    all.push(createFinding({ rule: 'nothing', severity: 'error', message: 'there is nothing to convert', at }))
  }
  const what = counted(checked, values.check ? 'definition' : 'object')
  const report = { command: 'crd convert', findings: all, checked: what, files: read.documents.map(({ file }) => file) }
  finish(report, values)
}
