// `binnacle crd types`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptDefinitions } from '../../authoring/definitions.js'
import { readDocuments } from '../../authoring/documents.js'
import { hasAtLeast } from '../../authoring/findings.js'
import { jsonSchemasOf } from '../../authoring/json-schema.js'
import { counted } from '../../authoring/report.js'
import { printTypeScript } from '../../authoring/type-script.js'
import { createFolder } from '../../base/files/create-folder.js'
import { UsageError } from '../../base/usage-error.js'
import { choice, optionalText } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { finish, withUsageErrors } from '../report/report.js'

const typesFlags = {
  lang: choice(['ts', 'json-schema'], 'the language', 'ts'),
  out: optionalText(
    'FOLDER',
    'where json-schema writes a file for each version; otherwise the schema of one version is printed',
  ),
}

const HELP = `Usage: binnacle crd types FILE... [flags]

Prints TypeScript types of custom objects with typed clients for @kubernetes/client-node (--lang=ts), or a JSON Schema for each
version, for editors of YAML (--lang=json-schema).

Exit code: 0, 1 if a definition is refused, 2 if the command line or a file is wrong.

Flags:
${printFlags(typesFlags)}

Examples:
  binnacle crd types crds/ > src/crds.ts
  binnacle crd types crds/ --lang=json-schema --out=schemas/
`

export const TYPES: Command = { run: args => withUsageErrors(() => types(args)), help: () => HELP }

async function types(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, typesFlags)
  if (words.length === 0) throw new UsageError('there is no definition: binnacle crd types FILE...')
  const read = readDocuments(words)
  const { accepted, findings } = await acceptDefinitions(read.documents)
  const all = [...read.findings, ...findings]
  if (hasAtLeast(all, 'error')) {
    const checked = counted(read.documents.length, 'object')
    return finish({ command: 'crd types', findings: all, checked, files: [] }, { output: 'text', 'fail-on': 'error' })
  }
  if (accepted.length === 0) throw new UsageError(`there is no CustomResourceDefinition in ${words.join(', ')}`)
  const definitions = accepted.map(({ definition }) => definition)
  if (values.lang === 'ts') return void process.stdout.write(printTypeScript(definitions))
  const schemas = definitions.flatMap(jsonSchemasOf)
  if (values.out === undefined) {
    if (schemas.length !== 1)
      throw new UsageError(`there are ${schemas.length} versions: name a folder with --out=FOLDER`)
    return void process.stdout.write(`${JSON.stringify(schemas[0]!.schema, undefined, 2)}\n`)
  }
  createFolder(values.out)
  for (const { name, schema, modeline } of schemas) {
    writeFileSync(join(values.out, name), `${JSON.stringify(schema, undefined, 2)}\n`)
    console.log(`${join(values.out, name)}   ${modeline}`)
  }
}
