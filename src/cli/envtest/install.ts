// Writes the assets folder of envtest: three shell scripts. `--help`, which envtest asks for before each start, is answered
// by the scripts themselves, because starting Node takes longer than the answer.
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KUBERNETES_VERSION } from '../../base/kubernetes-version.js'
import { packageFile } from '../../base/package-file.js'
import { isSingleExecutable } from '../own-program.js'
import { serveHelp } from '../serve/serve-flags.js'
import { STARTER_VARIABLE } from '../serve/stop-with-starter.js'
import { ETCD_IN_PERL } from './etcd-perl.js'

/** `isBeside`: the scripts start the executable `binnacle` of their own folder, so that the folder can be moved. */
export async function installAssets(folder: string, isBeside: boolean): Promise<void> {
  await mkdir(folder, { recursive: true })
  const started = isBeside
    ? executable('$here/binnacle')
    : (await isSingleExecutable())
      ? executable(process.execPath)
      : nodePrograms()
  for (const [name, text] of Object.entries(scripts(started))) await writeExecutable(join(folder, name), text)
}

/** What the scripts start. */
export interface Programs {
  /** The words of the shell that start Binnacle's command line, and its stand-in for etcd. */
  readonly binnacle: string
  readonly etcd: string
  /** Shell lines that check that these programs exist. */
  readonly check: string
}

/** The single executable. Its path may begin with `$here`, the folder of the script. */
function executable(path: string): Programs {
  const word = path.startsWith('$here') ? `"${path}"` : shellWord(path)
  return {
    binnacle: word,
    etcd: `${word} envtest etcd`,
    check: `here=$(cd "\${0%/*}" && pwd)
[ -x ${word} ] || fail "there is no executable ${path}; run 'binnacle envtest install' again"`,
  }
}

/** Node and this package, by the paths that they have now. */
function nodePrograms(): Programs {
  const file = (path: string) => shellWord(packageFile(path))
  return {
    binnacle: `"$node" ${file('bin/binnacle')}`,
    etcd: `"$node" ${file('dist/bundle/envtest-etcd.cjs')}`,
    check: `node=${shellWord(process.execPath)}
[ -x "$node" ] || node=$(command -v node) || fail "Node.js is not installed; install Node.js 20 or newer"
[ -f ${file('bin/binnacle')} ] || fail "the package binnacle was removed; run 'npx binnacle envtest install' again"`,
  }
}

export function scripts({ binnacle, etcd, check }: Programs): Record<string, string> {
  return {
    'kube-apiserver': `${head('kube-apiserver', serveHelp(), `Kubernetes ${KUBERNETES_VERSION}`)}
${check}
# Programs in Go do not know it, and Node would read all these authorities at each start.
unset NODE_EXTRA_CA_CERTS
exec ${binnacle} envtest kube-apiserver "$@"
`,
    etcd: `${head('etcd', ETCD_HELP, 'etcd Version: 3.6.0')}
${check}
command -v perl >/dev/null && exec perl -e '${ETCD_IN_PERL}' ${etcd} -- "$@"
exec ${etcd} "$@"
`,
    kubectl: `#!/bin/sh
# Starts the kubectl of the PATH: Binnacle has none of its own.
here=$(cd "\${0%/*}" && pwd)
IFS=:
for folder in $PATH; do
  [ "$folder" = "$here" ] || [ ! -x "$folder/kubectl" ] || { unset IFS; exec "$folder/kubectl" "$@"; }
done
echo "kubectl: there is no kubectl in your PATH; Binnacle brings none, install it" >&2
exit 127
`,
  }
}

const head = (name: string, help: string, version: string): string => `#!/bin/sh
# Binnacle in the place of ${name}, for envtest.
for argument; do
  case $argument in
  --help | -h)
    cat <<'END_OF_HELP'
${help.trimEnd()}
END_OF_HELP
    exit ;;
  --version)
    echo '${version}'
    exit ;;
  esac
done
fail() { echo "${name}: $1" >&2; exit 127; }
# The test that started this; it may have been killed before the program below looks.
export ${STARTER_VARIABLE}=$PPID`

/** envtest passes --unsafe-no-fsync only if the help has it. */
const ETCD_HELP = `Binnacle's stand-in for etcd: answers GET /health, and names the data directory to kube-apiserver.

  --data-dir=<folder>
      where kube-apiserver stores objects (default: default.etcd)
  --listen-client-urls=<url>
      the URL at which to listen (default: http://localhost:2379)
  --unsafe-no-fsync
      accepted; objects are never synced to disk
`

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A test may start the old file while the new one is written. */
async function writeExecutable(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, text)
  await chmod(temporary, 0o755)
  await rename(temporary, path)
}
