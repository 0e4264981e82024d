// `binnacle validate`: what the server would answer to manifests.

import { type Document, readDocuments } from '../../authoring/documents.js'
import { connect } from '../../authoring/live-server.js'
import { ADMINISTRATOR } from '../../authoring/offline-api.js'
import { counted } from '../../authoring/report.js'
import { validateDocuments } from '../../authoring/validate.js'
import { UsageError } from '../../base/usage-error.js'
import { encodeJson } from '../../codec/json.js'
import { choice, optionalText, repeatedText, text, toggle } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { EXIT_CODES, finish, reportFlags, withUsageErrors } from '../report/report.js'

const validateFlags = {
  crds: repeatedText(
    'FILE',
    'definitions and policies that count but are not checked: a file or a folder; may be repeated',
  ),
  kubeconfig: optionalText('FILE', 'a server whose definitions and policies count, too'),
  old: repeatedText('FILE', 'objects as they are now: the same objects are then checked as updates; may be repeated'),
  'field-validation': choice(
    ['Warn', 'Strict', 'Ignore'],
    'what unknown and duplicate fields are, as in the parameter fieldValidation of a request',
    'Warn',
  ),
  namespace: text('NAME', 'the namespace of objects that name none', 'default'),
  as: optionalText('USER', 'the user that admission policies see'),
  'as-group': repeatedText('GROUP', 'a group of that user; may be repeated'),
  'ignore-unknown-kinds': toggle('leave out documents of kinds that have no definition', false),
  ...reportFlags('error'),
}

const HELP = `Usage: binnacle validate FILE... [flags]

Says what kube-apiserver would answer to each object: errors with their causes, and warnings about unknown, duplicate and
deprecated fields, without a server. Definitions and admission policies that are among the files are applied. A FILE is YAML
or JSON with one or more documents, a folder with such files, or - for stdin, such as the output of helm template.

${EXIT_CODES}

Flags:
${printFlags(validateFlags)}

Examples:
  binnacle validate deploy/
  helm template charts/app | binnacle validate - --crds=crds/
  binnacle validate widget.yaml --crds=crd.yaml --old=widget-before.yaml
  binnacle validate deploy/ --output=sarif > binnacle.sarif
`

export const VALIDATE: Command = { run: args => withUsageErrors(() => validate(args)), help: () => HELP }

async function validate(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, validateFlags)
  if (words.length === 0) throw new UsageError('there is no file to validate: binnacle validate FILE...')
  const read = readDocuments(words)
  const given = readDocuments(values.crds)
  const live = values.kubeconfig === undefined ? [] : await liveDefinitions(values.kubeconfig)
  const known = { ...given, documents: [...live, ...given.documents] }
  const old = readDocuments(values.old)
  const user =
    values.as === undefined ? ADMINISTRATOR : { ...ADMINISTRATOR, name: values.as, groups: values['as-group'] }
  const { findings } = await validateDocuments({
    documents: read.documents,
    known: known.documents,
    old: old.documents,
    options: {
      fieldValidation: values['field-validation'],
      namespace: values.namespace,
      user,
      ignoreUnknownKinds: values['ignore-unknown-kinds'],
    },
  })
  const others = read.others === 0 ? '' : `; ${counted(read.others, 'other document')} left out`
  finish(
    {
      command: 'validate',
      findings: [...read.findings, ...known.findings, ...old.findings, ...findings],
      checked: `${counted(read.documents.length, 'object')} of ${counted(read.files, 'file')}${others}`,
      files: [...new Set(read.documents.map(({ file }) => file))],
    },
    values,
  )
}

const LIVE: readonly (readonly [string, string, string])[] = [
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions'],
  ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'],
  ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
]

/** The definitions and policies of a server, as documents. */
async function liveDefinitions(kubeconfig: string): Promise<readonly Document[]> {
  const server = connect(kubeconfig)
  const documents: Document[] = []
  for (const [apiVersion, kind, plural] of LIVE) {
    for (const item of await server.list(`/apis/${apiVersion}/${plural}`)) {
      const value = { ...item, apiVersion, kind }
      const bytes = Buffer.from(encodeJson(value))
      documents.push({ file: server.url, isNamed: true, firstLine: 0, bytes, mediaType: 'application/json', value })
    }
  }
  return documents
}
