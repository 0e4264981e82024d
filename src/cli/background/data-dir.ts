// The flag that names a server by its data directory.

import { join } from 'node:path'
import { homeDirectory } from '../../base/files/home-directory.js'
import { text } from '../../server/options.js'

export const dataDirFlags = {
  'data-dir': text(
    '<folder>',
    'the folder of the server, as given to binnacle serve',
    join(homeDirectory(), '.binnacle'),
  ),
}
