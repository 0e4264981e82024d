// The stand-in for etcd once more, in Perl, which most systems have: it starts in a tenth of the processor time of Node, and
// envtest starts one for each control plane. It answers as etcd.ts does, which runs where there is no Perl.

import { STARTER_VARIABLE } from '../serve/stop-with-starter.js'

/**
 * With the end of its parent it ends as stop-with-starter.ts says.
 *
 * A program for `perl -e '…' <words that start etcd.ts> -- <flags>` in a shell script; it has no single quotes. A Perl that
 * lacks a module starts etcd.ts instead.
 */
export const ETCD_IN_PERL = `
  use strict;
  my (%flags, $name, @other);
  while (@ARGV) { my $word = shift; last if $word eq "--"; push @other, $word }
  eval { require Cwd; require Socket; Socket->can("getaddrinfo") } or exec @other, @ARGV;
  my $stream = Socket::SOCK_STREAM();
  for (@ARGV) {
    if (/^--?([^=]+)(?:=(.*))?$/s) { $name = $1; $flags{$name} = defined $2 ? $2 : "" } elsif ($name) { $flags{$name} = $_ }
  }
  my $folder = $flags{"data-dir"} || "default.etcd";
  $folder = Cwd::getcwd() . "/$folder" unless $folder =~ m{^/};
  $folder =~ s/(["\\\\])/\\\\$1/g;
  my $url = (split /,/, $flags{"listen-client-urls"} || "http://localhost:2379")[0];
  my ($host, $port) = $url =~ m{^\\w+://\\[?([^/]*?)\\]?:(\\d+)} or die "etcd: no address: $url\\n";
  my %answers = (
    "/health" => "{\\"health\\":\\"true\\",\\"reason\\":\\"\\"}",
    "/version" => "{\\"etcdserver\\":\\"3.6.0\\",\\"etcdcluster\\":\\"3.6.0\\"}",
    "/binnacle" => "{\\"dataDir\\":\\"$folder\\"}",
  );
  my ($failure, $address) = Socket::getaddrinfo($host, $port, { socktype => $stream });
  die "etcd: $host: $failure\\n" if $failure;
  socket(my $server, $address->{family}, $stream, 0) or die "etcd: $!\\n";
  setsockopt($server, Socket::SOL_SOCKET(), Socket::SO_REUSEADDR(), 1);
  bind($server, $address->{addr}) && listen($server, Socket::SOMAXCONN()) or die "etcd: listen on $host:$port: $!\\n";
  $SIG{$_} = sub { exit 0 } for qw(TERM INT);
  $SIG{PIPE} = "IGNORE";
  my %open = (fileno($server) => { socket => $server });
  my $parent = getpgrp(0) == $$ ? $ENV{${STARTER_VARIABLE}} || getppid() : 0;
  while (1) {
    my $ready = "";
    vec($ready, $_, 1) = 1 for keys %open;
    my $count = select($ready, undef, undef, $parent ? 0.5 : undef);
    exit 0 if $parent && getppid() != $parent;
    $count > 0 or next;
    for my $number (grep { vec($ready, $_, 1) } keys %open) {
      my $client = $open{$number};
      if ($client->{socket} == $server) {
        $open{fileno($_)} = { socket => $_, text => "" } for grep { accept($_, $server) } (my $new);
        next;
      }
      my $read = sysread($client->{socket}, $client->{text}, 4096, length $client->{text});
      next if $read && $client->{text} !~ /\\r?\\n\\r?\\n/ && length $client->{text} < 65536;
      if ($read) {
        my ($path) = $client->{text} =~ /^\\S+ (\\S*)/;
        my $known = $answers{$path || ""};
        my $body = ($known || "{\\"message\\":\\"this is no etcd: it keeps objects of Binnacle only\\"}") . "\\n";
        my $head = "HTTP/1.1 " . ($known ? "200 OK" : "404 Not Found");
        syswrite($client->{socket}, join("\\r\\n", $head, "Content-Type: application/json",
          "Content-Length: " . length($body), "Connection: close", "", $body));
      }
      close($client->{socket});
      delete $open{$number};
    }
  }
`
