#!/bin/sh
# The first process of a guest that harness.py boots: runs what the folder $1 says, on a copy of the host's files.
# The copy is an overlay with all changes in memory; of the host, only the folder can be written.
set -eu
folder=$1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
while read -r module; do
  busybox insmod "$module"
done <"$folder/modules"
ip link set lo up
echo 100 >/proc/sys/vm/dirty_expire_centisecs # so that the host has the output of a program that hangs

mount -t tmpfs changes /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
cd /mnt/root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs run run
mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm ".$folder"
mount -t devpts pts dev/pts
mount -t tmpfs shm dev/shm
mount -t hostfs -o "$folder" hostfs ".$folder"

code=0
chroot . /bin/sh "$folder/program" >".$folder/output" 2>&1 </dev/null || code=$?
sync
echo "$code" >".$folder/exit"
sync
echo o >/proc/sysrq-trigger
sleep 60
