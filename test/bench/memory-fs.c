/*
 * The limit of user-space FUSE: a file system in memory that does as little as one can. One thread; write-through; the
 * kernel remembers names and attributes for an hour and asks for no opening, as with ours. It also looks for the next
 * request for a moment before it sleeps, because a wake-up costs more than most answers.
 *
 *   memory-fs DIR [D N]   serves an empty root, or one with D directories of N files each, until it is unmounted
 *
 * Names cannot be listed or renamed: nothing is measured that would need it.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REMEMBERED_SECONDS 3600.0
#define SPIN_NANOSECONDS 30000
#define BUCKETS (1 << 20)

struct inode {
  struct stat st;
  char *data;
  size_t room;
  uint64_t lookups;
};

struct entry {
  struct entry *next;
  struct inode *parent, *inode;
  char name[];
};

static struct entry *buckets[BUCKETS];
static struct inode *root;

static struct inode *inode_of(fuse_ino_t nodeid) {
  return nodeid == FUSE_ROOT_ID ? root : (struct inode *)nodeid;
}

static struct entry **find(struct inode *parent, const char *name) {
  uint64_t hash = (uintptr_t)parent * 0x9e3779b97f4a7c15u;
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  struct entry **at = &buckets[(hash >> 20) % BUCKETS];
  while (*at && ((*at)->parent != parent || strcmp((*at)->name, name) != 0)) at = &(*at)->next;
  return at;
}

static struct inode *make_inode(mode_t mode, uid_t uid, gid_t gid) {
  static ino_t last;
  struct inode *inode = calloc(1, sizeof *inode);
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  inode->st = (struct stat){.st_ino = ++last,
                            .st_mode = mode,
                            .st_nlink = S_ISDIR(mode) ? 2 : 1,
                            .st_uid = uid,
                            .st_gid = gid,
                            .st_blksize = 4096,
                            .st_atim = t,
                            .st_mtim = t,
                            .st_ctim = t};
  return inode;
}

static struct inode *add(struct inode *parent, const char *name, struct inode *inode) {
  struct entry **at = find(parent, name);
  struct entry *entry = malloc(sizeof *entry + strlen(name) + 1);
  *entry = (struct entry){.next = *at, .parent = parent, .inode = inode};
  strcpy(entry->name, name);
  *at = entry;
  parent->st.st_mtim = parent->st.st_ctim = inode->st.st_ctim;
  if (S_ISDIR(inode->st.st_mode)) parent->st.st_nlink++;
  return inode;
}

static void free_unused(struct inode *inode) {
  if (inode->st.st_nlink > 0 || inode->lookups > 0) return;
  free(inode->data);
  free(inode);
}

static void forget_one(fuse_ino_t nodeid, uint64_t count) {
  struct inode *inode = inode_of(nodeid);
  if (inode == root) return;
  inode->lookups -= count;
  free_unused(inode);
}

static struct fuse_entry_param remember(struct inode *inode) {
  inode->lookups++;
  return (struct fuse_entry_param){.ino = (uintptr_t)inode,
                                   .attr = inode->st,
                                   .attr_timeout = REMEMBERED_SECONDS,
                                   .entry_timeout = REMEMBERED_SECONDS};
}

static void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name) {
  struct entry *entry = *find(inode_of(parent), name);
  struct fuse_entry_param param = {.entry_timeout = REMEMBERED_SECONDS};
  if (entry) param = remember(entry->inode);
  fuse_reply_entry(req, &param);
}

static void fs_forget(fuse_req_t req, fuse_ino_t nodeid, uint64_t count) {
  forget_one(nodeid, count);
  fuse_reply_none(req);
}

static void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets) {
  for (size_t i = 0; i < count; i++) forget_one(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(req);
}

static void fs_getattr(fuse_req_t req, fuse_ino_t nodeid, struct fuse_file_info *fi) {
  (void)fi;
  fuse_reply_attr(req, &inode_of(nodeid)->st, REMEMBERED_SECONDS);
}

static void fs_setattr(fuse_req_t req, fuse_ino_t nodeid, struct stat *to, int set,
                       struct fuse_file_info *fi) {
  (void)fi;
  struct stat *st = &inode_of(nodeid)->st;
  if (set & FUSE_SET_ATTR_SIZE && to->st_size != 0) return (void)fuse_reply_err(req, EOPNOTSUPP);
  if (set & FUSE_SET_ATTR_SIZE) st->st_size = st->st_blocks = 0;
  if (set & FUSE_SET_ATTR_MODE) st->st_mode = (st->st_mode & S_IFMT) | (to->st_mode & 07777);
  if (set & FUSE_SET_ATTR_UID) st->st_uid = to->st_uid;
  if (set & FUSE_SET_ATTR_GID) st->st_gid = to->st_gid;
  if (set & FUSE_SET_ATTR_MTIME) st->st_mtim = to->st_mtim;
  fuse_reply_attr(req, st, REMEMBERED_SECONDS);
}

static struct fuse_entry_param make(fuse_req_t req, fuse_ino_t parent, const char *name,
                                    mode_t mode) {
  const struct fuse_ctx *ctx = fuse_req_ctx(req);
  return remember(add(inode_of(parent), name, make_inode(mode, ctx->uid, ctx->gid)));
}

static void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *fi) {
  if (*find(inode_of(parent), name)) return (void)fuse_reply_err(req, EEXIST);
  struct fuse_entry_param param = make(req, parent, name, mode | S_IFREG);
  fi->keep_cache = 1;
  fuse_reply_create(req, &param, fi);
}

static void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode) {
  if (*find(inode_of(parent), name)) return (void)fuse_reply_err(req, EEXIST);
  struct fuse_entry_param param = make(req, parent, name, mode | S_IFDIR);
  fuse_reply_entry(req, &param);
}

static void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name) {
  struct entry **at = find(inode_of(parent), name), *entry = *at;
  if (!entry) return (void)fuse_reply_err(req, ENOENT);
  *at = entry->next;
  clock_gettime(CLOCK_REALTIME, &entry->parent->st.st_mtim);
  entry->inode->st.st_nlink--;
  free_unused(entry->inode);
  free(entry);
  fuse_reply_err(req, 0);
}

static void fs_write(fuse_req_t req, fuse_ino_t nodeid, const char *bytes, size_t size, off_t off,
                     struct fuse_file_info *fi) {
  (void)fi;
  struct inode *inode = inode_of(nodeid);
  size_t end = off + size;
  if (end > inode->room) {
    size_t room = end > 2 * inode->room ? end : 2 * inode->room;
    char *data = realloc(inode->data, room);
    if (!data) return (void)fuse_reply_err(req, ENOSPC);
    memset(data + inode->room, 0, room - inode->room);
    inode->data = data;
    inode->room = room;
  }
  memcpy(inode->data + off, bytes, size);
  if ((off_t)end > inode->st.st_size) inode->st.st_size = end;
  inode->st.st_blocks = (inode->st.st_size + 511) / 512;
  clock_gettime(CLOCK_REALTIME, &inode->st.st_mtim);
  fuse_reply_write(req, size);
}

static void fs_read(fuse_req_t req, fuse_ino_t nodeid, size_t size, off_t off,
                    struct fuse_file_info *fi) {
  (void)fi;
  struct inode *inode = inode_of(nodeid);
  off_t left = inode->st.st_size - off;
  if (left <= 0) return (void)fuse_reply_buf(req, NULL, 0);
  fuse_reply_buf(req, inode->data + off, (off_t)size < left ? size : (size_t)left);
}

/* The kernel then never asks again, nor tells of a closing. */
static void fs_open(fuse_req_t req, fuse_ino_t nodeid, struct fuse_file_info *fi) {
  (void)nodeid, (void)fi;
  fuse_reply_err(req, ENOSYS);
}

static void fs_init(void *userdata, struct fuse_conn_info *conn) {
  (void)userdata;
  /* An opening that is not asked for could not cut a file. */
  conn->want &= ~(unsigned)FUSE_CAP_ATOMIC_O_TRUNC;
}

static const struct fuse_lowlevel_ops ops = {.init = fs_init,
                                             .lookup = fs_lookup,
                                             .forget = fs_forget,
                                             .forget_multi = fs_forget_multi,
                                             .getattr = fs_getattr,
                                             .setattr = fs_setattr,
                                             .create = fs_create,
                                             .mkdir = fs_mkdir,
                                             .unlink = fs_unlink,
                                             .open = fs_open,
                                             .write = fs_write,
                                             .read = fs_read};

static void fill(long directories, long files) {
  char name[32];
  for (long d = 0; d < directories; d++) {
    snprintf(name, sizeof name, "d%ld", d);
    struct inode *dir = add(root, name, make_inode(S_IFDIR | 0755, 0, 0));
    for (long f = 0; f < files; f++) {
      snprintf(name, sizeof name, "f%ld", f);
      add(dir, name, make_inode(S_IFREG | 0644, 0, 0));
    }
  }
}

static long nanoseconds_since(const struct timespec *then) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (t.tv_sec - then->tv_sec) * 1000000000L + t.tv_nsec - then->tv_nsec;
}

static void serve(struct fuse_session *session) {
  struct pollfd device = {.fd = fuse_session_fd(session), .events = POLLIN};
  fcntl(device.fd, F_SETFL, fcntl(device.fd, F_GETFL) | O_NONBLOCK);
  struct fuse_buf buf = {.mem = NULL};
  struct timespec last = {0};
  while (!fuse_session_exited(session)) {
    int length = fuse_session_receive_buf(session, &buf);
    if (length > 0) {
      fuse_session_process_buf(session, &buf);
      clock_gettime(CLOCK_MONOTONIC, &last);
    } else if (length == -EAGAIN) {
      if (nanoseconds_since(&last) < SPIN_NANOSECONDS) sched_yield();
      else poll(&device, 1, -1);
    } else if (length != -EINTR) break;
  }
  free(buf.mem);
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4) return 2;
  char *words[] = {argv[0], "-o", "fsname=memory-fs"};
  struct fuse_args args = FUSE_ARGS_INIT(3, words);
  root = make_inode(S_IFDIR | 0755, getuid(), getgid());
  if (argc == 4) fill(atol(argv[2]), atol(argv[3]));
  struct fuse_session *session = fuse_session_new(&args, &ops, sizeof ops, NULL);
  if (!session || fuse_session_mount(session, argv[1]) != 0) return 1;
  /* The parent process waits for a line. */
  puts("mounted");
  fflush(stdout);
  serve(session);
  fuse_session_unmount(session);
  fuse_session_destroy(session);
  return 0;
}
